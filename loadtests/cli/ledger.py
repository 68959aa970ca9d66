"""`drillyard load list`, `show` and `prune`: the runs that were kept."""

import json
from pathlib import Path
from typing import Annotated

import typer

from loadtests.cli.ledger_view import console, revision_told, runs_table, verdict_text
from loadtests.cli.outcome_view import verdict_table
from loadtests.cli.refusing import refusals
from loadtests.domain.drill import Shape
from loadtests.domain.verdict import Verdict, verdict_of
from loadtests.ledger.baselines import Baselines
from loadtests.ledger.book import Ledger
from loadtests.ledger.entry import Damaged, Entry, read_entry
from loadtests.run_files import RunDamaged, read_object
from loadtests.run_folder import RUNS, RunFolder

_MOST = 20
Folder = Annotated[Path, typer.Option("--folder", metavar="DIR", help="Where the runs lie.")]
Run = Annotated[
    str,
    typer.Argument(metavar="RUN", help="The begin of its name, its path, or last, last~1, ...", show_default=False),
]


def list_runs(
    *,
    shape: Annotated[Shape | None, typer.Option("--shape", help="Only runs of this shape.")] = None,
    number: Annotated[int, typer.Option("--number", "-n", min=1, help="At most so many.")] = _MOST,
    as_json: Annotated[bool, typer.Option("--json", help="Print them for a program.")] = False,
    folder: Folder = RUNS,
) -> None:
    """List the runs that were kept, newest first."""
    runs = [each for each in Ledger(folder).runs() if shape is None or _has_shape(each, shape)]
    if as_json:
        typer.echo(json.dumps([each.as_json() for each in runs[:number]], indent=1, ensure_ascii=False))
        return
    if not runs:
        typer.echo(f"no run of this kind in {folder}; `drillyard load run` makes one")
        return
    console().print(runs_table(runs[:number]))
    if len(runs) > number:
        typer.echo(f"... and {len(runs) - number} older ones; see --number")


def show_run(
    run: Run,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print all that is known of it for a program.")] = False,
    folder: Folder = RUNS,
) -> None:
    """Show one run: its circumstances, its targets and its main figures."""
    with refusals("load show"):
        found = Ledger(folder).find(run)
        entry = read_entry(found)
        if isinstance(entry, Damaged):
            raise RunDamaged(entry.why)
        told = _told(found, entry)
        if as_json:
            typer.echo(json.dumps(told, indent=1, ensure_ascii=False))
            return
        _print(found, entry)


def prune_runs(
    *,
    keep: Annotated[int, typer.Option("--keep", metavar="N", min=0, help="So many of the newest stay.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    folder: Folder = RUNS,
) -> None:
    """Remove old runs. Baselines stay, and so does whatever is not finished, is damaged, or is no run."""
    ledger = Ledger(folder)
    with refusals("load prune"):
        removable = ledger.removable(keep=keep, kept=Baselines(folder).runs())
        if not removable:
            typer.echo("nothing to remove")
            return
        console().print(runs_table(list(removable)))
        if not yes:
            typer.confirm(f"Remove these {len(removable)} runs?", abort=True)
        for each in removable:
            ledger.remove(each.run)
        typer.echo(f"removed {len(removable)} runs")


def _has_shape(run: Entry | Damaged, shape: Shape) -> bool:
    return isinstance(run, Entry) and run.shape == shape.value


def _told(folder: RunFolder, entry: Entry) -> dict[str, object]:
    files = {"drill": folder.drill, "facts": folder.facts, "verdict": folder.verdict, "figures": folder.figures}
    return {
        "folder": str(folder.path),
        "entry": entry.as_json(),
        **{name: read_object(file) if file.exists() else None for name, file in files.items()},
    }


def _print(folder: RunFolder, entry: Entry) -> None:
    screen = console()
    screen.print(runs_table([entry]))
    screen.print()
    facts = {
        "folder": str(folder.path),
        "drill": entry.drill,
        "targets": entry.targets or "none",
        "machine": f"{entry.machine or 'unknown'} {_machine(folder)}",
        "revision": revision_told(entry.revision, is_changed=entry.is_changed) or "unknown",
        "fleet": ", ".join(entry.fleet) or "unknown",
        "report": str(folder.report) if folder.report.exists() else "none; `drillyard load report` writes it",
    }
    for name, value in facts.items():
        screen.print(f"{name:9} {value}", markup=False, highlight=False, soft_wrap=True)
    screen.print()
    if folder.verdict.exists():
        screen.print(verdict_table(_verdict(folder).judged))
    screen.print(verdict_text(entry))
    if entry.incomplete:
        screen.print(f"incomplete: {entry.incomplete}", markup=False)


def _verdict(folder: RunFolder) -> Verdict:
    try:
        return verdict_of(read_object(folder.verdict))
    except ValueError as error:
        raise RunDamaged(f"{folder.verdict}: {error}") from None


def _machine(folder: RunFolder) -> str:
    machine = read_object(folder.facts).get("machine")
    told = machine if isinstance(machine, dict) else {}
    return f"({', '.join(f'{name} {value}' for name, value in told.items())})" if told else ""
