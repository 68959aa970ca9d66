"""`drillyard fleet profile`: what a vLLM profile says, and whether the engine and the service can work with it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import typer

from gateway.cli.engine_facts import bundled_facts, facts_of_environment
from gateway.cli.printable import printable
from gateway.cli.profile_file import read_profile
from router.fleet.domain.vllm_advice import CheckedProfile, Surroundings, check
from router.fleet.domain.vllm_flags import SECRETS, EngineFacts, Flags, Weight, command_text

app = typer.Typer(
    help="Check and show vLLM profiles.", add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False
)
BAD: Final = 1

File = Annotated[Path, typer.Argument(metavar="FILE", help="A YAML file, as `drillyard capacity --profile` writes it.")]
EngineVersion = Annotated[
    str | None,
    typer.Option(metavar="V", help="vLLM's version, such as 0.32; by default the newest whose flags we know."),
]
VllmEnv = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Ask the vLLM of this virtual environment instead; takes 10 s.")
]
Grace = Annotated[
    float, typer.Option(min=0, max=86_400, metavar="SECONDS", help="From SIGTERM to SIGKILL where the replica runs.")
]
Window = Annotated[
    int | None, typer.Option(min=1, metavar="TOKENS", help="The gateway's window_tokens; by default not compared.")
]
Priorities = Annotated[
    bool, typer.Option("--engine-priority", help="The router sends priorities: its engine_priority is on.")
]


@app.callback()
def _group() -> None:
    """Check a profile before a replica is started with it, and show what it means. Asks no server.

    `drillyard capacity --profile FILE` writes one.
    """


@app.command(
    "check",
    epilog="Examples:\n\n"
    "  drillyard fleet profile check deploy/vllm/qwen2.5-7b-l40s.yaml\n\n"
    "  drillyard fleet profile check mine.yaml --engine-version 0.32 --window 4096 --grace 75 --engine-priority\n\n"
    "  drillyard fleet profile check mine.yaml --vllm-env /opt/vllm\n\n"
    "Leaves with 0 when a replica can be started so, with 1 when there is an error (with --strict, a warning too).",
)
def check_profile(  # noqa: PLR0913 - one argument for each option of the command line
    file: File,
    *,
    engine_version: EngineVersion = None,
    vllm_env: VllmEnv = None,
    grace: Grace = 75.0,
    window: Window = None,
    engine_priority: Priorities = False,
    strict: Annotated[bool, typer.Option("--strict", help="Leave with 1 for warnings too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of lines.")] = False,
) -> None:
    """Name what the engine would not take, and what works against the service: each with what to do about it."""
    facts = _facts(engine_version, vllm_env)
    around = Surroundings(grace_s=grace, window_tokens=window, sends_priorities=engine_priority)
    checked = check(read_profile(file), facts, around)
    if as_json:
        typer.echo(json.dumps(_as_json(checked, facts), indent=2))
    else:
        for line in _lines(checked, facts, file):
            typer.echo(printable(line))
    if checked.errors or (strict and checked.findings):
        raise typer.Exit(BAD)


@app.command("show", epilog="Example:\n\n  drillyard fleet profile show deploy/vllm/qwen2.5-7b-l40s.yaml")
def show_profile(file: File, *, engine_version: EngineVersion = None, vllm_env: VllmEnv = None) -> None:
    """Show each flag beside the engine's own value, and the command line."""
    facts = _facts(engine_version, vllm_env)
    checked = check(read_profile(file), facts, Surroundings())
    shown: Flags = {name: "…" if name in SECRETS else value for name, value in checked.flags.items()}
    for name, value in shown.items():
        fact = facts.flags.get(name)
        default = "its own choice" if fact is None or fact.default is None else fact.default
        typer.echo(printable(f"{name}: {value}  (vLLM {facts.version}: {default})"))
    typer.echo(printable(command_text(shown)))
    if checked.errors:
        typer.echo(f"{checked.errors} of its flags cannot work; `drillyard fleet profile check` says why", err=True)
        raise typer.Exit(BAD)


def _facts(version: str | None, environment: Path | None) -> EngineFacts:
    return bundled_facts(version) if environment is None else facts_of_environment(environment)


def _lines(checked: CheckedProfile, facts: EngineFacts, file: Path) -> Iterator[str]:
    for finding in sorted(checked.findings, key=lambda one: one.weight is Weight.WARNING):
        yield f"{finding.weight:<8} {finding.flag} {finding.what}; {finding.advice}"
    told = f"{_counted(checked.errors, 'error')}, {_counted(len(checked.findings) - checked.errors, 'warning')}"
    yield f"{file}: {told}, by the flags of vLLM {facts.version}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _as_json(checked: CheckedProfile, facts: EngineFacts) -> dict[str, object]:
    return {
        "engine_version": facts.version,
        "errors": checked.errors,
        "findings": [
            {"weight": str(one.weight), "flag": one.flag, "what": one.what, "advice": one.advice}
            for one in checked.findings
        ],
    }
