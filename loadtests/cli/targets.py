"""`drillyard load targets`: the targets file to start from."""

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from loadtests.cli.run_order import targets_of
from loadtests.conduct.order import DrillFailed, Exit

EXAMPLES = (
    "Examples:\n\n  drillyard load targets > mine.yaml\n\n  drillyard load targets --check mine.yaml\n\n"
    "  drillyard load run class --targets mine.yaml"
)


def shipped() -> str:
    """What a class is held to where nothing else is said."""
    return (files("loadtests.targets") / "class.yaml").read_text("utf-8")


def targets(
    *,
    check: Annotated[
        Path | None,
        typer.Option("--check", metavar="FILE", help="Say whether this file can be used, and print nothing."),
    ] = None,
) -> None:
    """Print what a class is held to, as a file to start from: every target, and what it means."""
    if check is None:
        typer.echo(shipped(), nl=False)
        return
    try:
        found = targets_of(check)
    except DrillFailed as error:
        typer.echo(f"drillyard load targets: {error}", err=True)
        raise typer.Exit(int(Exit.REFUSED)) from None
    typer.echo(f"{check} can be used; its digest is {found.digest}")
