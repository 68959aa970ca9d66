"""The `drillyard` command: which commands there are, and where each is found once it is asked for."""

import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

from gateway.cli.entries import Entry, with_entries
from gateway.cli.failure import CommandFailed
from gateway.cli.printable import printable

ENTRIES = (
    Entry("up", "gateway.cli.up", "up", "Start everything on this machine: Redis, Postgres, replicas and the gateway."),
    Entry(
        "serve", "gateway.cli.serve", "serve", "Serve the API with the Redis, Postgres and replicas of the settings."
    ),
    Entry(
        "worker", "gateway.cli.worker", "worker", "Answer the questions of jobs, in a process that does nothing else."
    ),
    Entry("router", "gateway.cli.router", "router", "Serve the OpenAI API, each session at the replica that knows it."),
    Entry("chat", "gateway.cli.chat", "chat", "Play one session as a trainee in this terminal."),
    Entry("drill", "gateway.cli.drill", "app", "Schedule classes, or let one of scripted trainees run."),
    Entry("sim", "loadtests.simulator.cli", "app", "Run replicas without a GPU that speak vLLM's HTTP API."),
    Entry(
        "certify",
        "loadtests.cli.certify",
        "certify",
        "Play a class with faults, and certify how many seats a fleet has, what was lost, and what it costs.",
    ),
    Entry(
        "load",
        "loadtests.cli.load",
        "app",
        "Prove that a class will hold: play load drills, judge them, and compare them.",
    ),
    Entry(
        "knowledge",
        "gateway.cli.knowledge",
        "app",
        "Keep the knowledge that tutors and answers draw on: add, list, remove.",
    ),
    Entry(
        "answers", "gateway.cli.answers", "answers", "Put many questions to a knowledge base and wait for the answers."
    ),
    Entry(
        "moderation",
        "gateway.cli.reviews",
        "app",
        "Keep phrase lists, try them out, review turns, and see who changed what.",
    ),
    Entry(
        "fleet",
        "gateway.cli.fleet",
        "app",
        "See the fleet and its plan, scale a pool, empty a replica, and ask why a turn ran where it did.",
    ),
    Entry(
        "capacity",
        "gateway.cli.capacity",
        "capacity",
        "Plan a class: sessions a replica holds, replicas, times, cost, and vLLM's flags.",
    ),
    Entry("db", "gateway.cli.db", "app", "Prepare the database."),
    Entry("keys", "gateway.cli.keys", "app", "Create, list, rotate and revoke API keys."),
    Entry("limits", "gateway.cli.limits", "app", "See and set how much accounts may take."),
)
EXAMPLES = (
    "Examples:\n\n"
    "  drillyard up --replicas 2\n\n"
    "  drillyard drill run --scenario zh --trainees 8 --turns 5\n\n"
    "  drillyard chat --scenario en\n\n"
    "Every command has its own --help."
)


def build_app() -> typer.Typer:
    app = typer.Typer(
        name="drillyard",
        help="Role-play training sessions on warm replicas.",
        epilog=EXAMPLES,
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    app.callback()(_options)
    return with_entries(app, ENTRIES)


def main() -> None:
    try:
        build_app()(prog_name="drillyard")
    except CommandFailed as failure:
        sys.stderr.write(f"drillyard: {printable(str(failure))}\n")
        sys.exit(1)


def _options(
    *,
    _shown: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Print the version and leave.",
            is_eager=True,
            callback=lambda asked: _print_version(asked=asked),
        ),
    ] = False,
) -> None:
    pass


def _print_version(*, asked: bool) -> None:
    if asked:
        typer.echo(f"drillyard {_version()}")
        raise typer.Exit


def _version() -> str:
    try:
        return version("drillyard")
    except PackageNotFoundError:
        return "(run from its sources, not installed)"


if __name__ == "__main__":
    main()
