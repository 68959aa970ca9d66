"""The ledger as tables: a row for each run, or one run with all that is known of it."""

import sys

from rich.console import Console
from rich.table import Table
from rich.text import Text

from loadtests.domain.verdict import Whole
from loadtests.ledger.entry import Damaged, Entry
from loadtests.report.words import number, seconds, share

_WIDE = 200
_REVISION = 8
STYLES = {Whole.PASSED: "green", Whole.MISSED: "red", Whole.VOID: "yellow", Whole.UNPROVEN: "yellow"}
_HEADS = ("bell (UTC)", "shape", "trainees", "turns", "failed", "TTFT p50", "p95", "E2E p95", "good", "cached", "cold")


def console() -> Console:
    """Wide where nobody's terminal says how wide: a file, a pipe."""
    return Console() if sys.stdout.isatty() else Console(width=_WIDE)


def runs_table(runs: list[Entry | Damaged]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("run", no_wrap=True)
    for head in _HEADS:
        table.add_column(head, no_wrap=True, justify="left" if head in _HEADS[:2] else "right")
    for head in ("verdict", "revision", "fleet"):
        table.add_column(head)
    for each in runs:
        if isinstance(each, Damaged):
            table.add_row(Text(each.run), *([""] * len(_HEADS)), Text(f"damaged: {each.why}", "red"), "", "")
        else:
            table.add_row(
                Text(each.run),
                *map(Text, _cells(each)),
                verdict_text(each),
                Text(revision_told(each.revision, is_changed=each.is_changed)),
                Text(", ".join(each.fleet)),
            )
    return table


def verdict_text(entry: Entry) -> Text:
    if entry.whole is None:
        return Text("no verdict", "yellow")
    told = f"{entry.whole}, incomplete" if entry.incomplete else entry.whole
    return Text(told, next((style for whole, style in STYLES.items() if whole == entry.whole), ""))


def revision_told(revision: str, *, is_changed: bool) -> str:
    """With a plus where the code differed from it."""
    return revision[:_REVISION] + ("+" if is_changed and revision else "")


def _cells(entry: Entry) -> tuple[str, ...]:
    figures = entry.figures
    return (
        entry.bell_at[:16].replace("T", " "),
        entry.shape,
        str(entry.trainees),
        number(figures.get("turns")),
        number(figures.get("failed")),
        seconds(figures.get("ttft.p50")),
        seconds(figures.get("ttft.p95")),
        seconds(figures.get("e2e.p95")),
        share(figures.get("goodput_share")),
        share(figures.get("cached_share")),
        share(figures.get("cold_share")),
    )
