"""One round of the controller as it is printed."""

from collections.abc import Mapping
from dataclasses import asdict

from rich.table import Table

from gateway.cli.fleet_view import UNKNOWN
from gateway.cli.folding_table import folding_table
from router.fleet.keeping import PoolReport


def deeds_table(report: PoolReport) -> Table:
    table = folding_table("deed", "replica", "reason", "trouble")
    for deed in report.deeds:
        table.add_row(deed.what, deed.replica, deed.reason, deed.trouble)
    return table


def as_facts(report: PoolReport) -> Mapping[str, object]:
    seen = report.round
    return {
        "pool": report.pool,
        "leads": report.leads,
        "wanted": None if seen is None else seen.wanted,
        "ready": None if seen is None else seen.ready,
        "present": None if seen is None else seen.present,
        "wait": "" if seen is None else seen.wait,
        "short": None if report.alert is None else str(report.alert),
        "deeds": [asdict(deed) for deed in report.deeds],
        "troubles": list(report.troubles),
    }


def headline(report: PoolReport) -> str:
    seen = report.round
    if seen is None:
        counted = "nothing was done" if report.leads else "another process leads; nothing was done"
    else:
        wanted = UNKNOWN if seen.wanted is None else seen.wanted
        counted = f"{wanted} wanted, {seen.ready} ready, {seen.present} present"
    parts = [counted, "" if seen is None else seen.wait, "" if report.alert is None else str(report.alert)]
    return f"{report.pool}: {'; '.join(filter(None, [*parts, *report.troubles]))}"
