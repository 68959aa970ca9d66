"""`drillyard load report`: writes the report of a run again, from the folder that holds what was measured."""

import json
from pathlib import Path
from typing import Annotated

import typer

from loadtests.cli.ledger import Folder, Run
from loadtests.cli.refusing import refusals
from loadtests.domain.reason import Reason
from loadtests.ledger.book import Ledger
from loadtests.report.account import Account
from loadtests.report.run_reading import write_report
from loadtests.report.run_tables import headline
from loadtests.run_folder import RUNS, RunFolder

EXAMPLES = (
    "Examples:\n\n"
    "  drillyard load report last\n\n"
    "  drillyard load report 20261201-0930 --html class.html --price 1.9\n\n"
    "  drillyard load report .drillyard/loads/20261201-093000-class-1f2e3d --json"
)


def report(
    run: Run,
    *,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write the page there, not into the folder.")
    ] = None,
    price: Annotated[
        float | None, typer.Option("--price", min=0, help="Of one replica for an hour, for the cost of a drill.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print verdict, reasons and figures for a program.")] = False,
    folder: Folder = RUNS,
) -> None:
    """Write the report of a run again: one page that needs no network, and figures.json in the folder."""
    with refusals("load report"):
        found = RunFolder(Path(run)) if Path(run).is_dir() else Ledger(folder).find(run)
        account = write_report(found, to=html, price_per_hour=price)
    if as_json:
        typer.echo(json.dumps(told(account), indent=1, ensure_ascii=False))
        return
    typer.echo(headline(account)[1])
    for reason in account.explaining:
        typer.echo(f"  {_line(reason)}")
    typer.echo(f"{html or found.report}")


def told(account: Account) -> dict[str, object]:
    return {
        "run": account.name,
        "incomplete": account.incomplete,
        "verdict": account.verdict.as_json(),
        "reasons": [reason.as_json() for reason in account.reasons],
        "explaining": [reason.as_json() for reason in account.explaining],
        "replica_seconds_per_drill": account.replica_seconds_per_drill,
        "cost_per_drill": account.cost_per_drill,
        "figures": account.figures.as_json(),
    }


def _line(reason: Reason) -> str:
    return f"{reason.cause}: {reason.says}" + (f" ({'; '.join(reason.evidence)})" if reason.evidence else "")
