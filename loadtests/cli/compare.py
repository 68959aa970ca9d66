"""`drillyard load compare`: what changed between runs, and what of it may be chance."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from loadtests.cli.ledger import Folder
from loadtests.cli.ledger_view import console
from loadtests.cli.refusing import refusals
from loadtests.domain.compared import Finding, Judging
from loadtests.ledger.book import Ledger
from loadtests.ledger.compare_page import compare_page
from loadtests.ledger.compare_words import chance, headline, interval_told, judged_last, told
from loadtests.ledger.comparing import Held, held, runs_named, side_of
from loadtests.run_files import RunDamaged
from loadtests.run_folder import RUNS

EXAMPLES = (
    "Examples:\n\n"
    "  drillyard load compare last~1 last\n\n"
    "  drillyard load compare 20261201-0930,20261201-0945 last~1,last --html change.html\n\n"
    "Leaves with 0 whatever it finds, and with 2 when a run is not there or damaged; `drillyard load regress` is the "
    "one that fails when something became worse."
)
_STYLES = {Finding.BETTER: "green", Finding.WORSE: "red", Finding.NOISE: "", Finding.UNKNOWN: "dim"}
Side = Annotated[str, typer.Argument(metavar="RUN[,RUN]", help="As in `show`; several are pooled.", show_default=False)]


def compare_runs(
    before: Side,
    after: Side,
    *,
    matters: Annotated[
        float, typer.Option("--matters", min=0, max=1, help="Smaller changes are noise, as a share of before.")
    ] = 0.0,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write a page with charts.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it for a program.")] = False,
    folder: Folder = RUNS,
) -> None:
    """Say of each metric whether it became better or worse, or whether chance alone may have done it."""
    ledger = Ledger(folder)
    with refusals("load compare"):
        sides = [side_of(runs_named(ledger, words)) for words in (before, after)]
        found = held(sides[0], sides[1], judging=Judging(matters=matters))
        if html is not None:
            _write(html, compare_page(found))
    if as_json:
        typer.echo(json.dumps(found.as_json(), indent=1, ensure_ascii=False))
        return
    _print(found)
    if html is not None:
        typer.echo(f"{html}")


def compared_table(found: Held) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("", no_wrap=True)
    table.add_column("before", justify="right", no_wrap=True)
    table.add_column("after", justify="right", no_wrap=True)
    table.add_column("change, and what it may be", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("")
    for each in judged_last(found.comparison.metrics):
        finding = Text(each.finding.value, _STYLES[each.finding])
        before, after = (told(value, each) for value in (each.before, each.after))
        table.add_row(each.name, before, after, interval_told(each), finding, each.why)
    return table


def _print(found: Held) -> None:
    screen = console()
    for warning in found.warnings:
        screen.print(f"not comparable: {warning}", style="yellow", markup=False, soft_wrap=True)
    if found.change:
        screen.print(found.change, markup=False, soft_wrap=True)
    screen.print(compared_table(found))
    screen.print()
    screen.print(chance(found.comparison), markup=False, highlight=False, soft_wrap=True)
    screen.print(headline(found.comparison), markup=False, highlight=False)


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RunDamaged(f"{file} cannot be written: {error.strerror}") from None
