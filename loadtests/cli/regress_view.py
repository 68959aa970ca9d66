"""A regression as one table, and the record of former ones."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from loadtests.cli.ledger_view import STYLES, revision_told
from loadtests.domain.compared import Compared, Finding
from loadtests.ledger.compare_words import interval_told
from loadtests.regress.regression import Line, Regression
from loadtests.report.words import NOTHING, number, seconds

_MOST_NAMED = 3


def regression_table(regression: Regression) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("drill", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for head in ("turns", "failed", "TTFT p95", "E2E p95"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("against its baseline")
    for line in regression.lines:
        table.add_row(line.name, _verdict(line), *_figures(line), _change(line))
    return table


def summary(regression: Regression, *, accepted: bool) -> list[str]:
    runs = [entry.run for line in regression.lines for entry in line.entries]
    lines = [f"{len(runs)} runs kept; `drillyard load compare RUN RUN` tells more of any two"] if runs else []
    warnings = [(line.name, each) for line in regression.lines if line.held for each in line.held.warnings]
    lines += [f"{name}: not comparable: {each}" for name, each in warnings]
    changes = [(line.name, line.held.change) for line in regression.lines if line.held and line.held.change]
    lines += [f"{name}: {each}" for name, each in changes]
    left = [line.name for line in regression.lines if not line.is_acceptable]
    if accepted:
        lines.append("accepted as baseline" + (f", except {', '.join(left)}" if left else ""))
    elif any(not line.baseline and line.entries for line in regression.lines):
        lines.append("some drills have no baseline on this machine yet: `drillyard load accept` makes this it")
    return [*lines, "interrupted"] if regression.is_interrupted else lines


def history_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The latest last, as they happened."""
    table = Table(box=None, pad_edge=False)
    for head in ("when (UTC)", "suite", "revision"):
        table.add_column(head, no_wrap=True)
    for head in ("change", "worse", "better", "missed or not played"):
        table.add_column(head)
    table.add_column("", no_wrap=True)
    for row in rows:
        told = row.get("drills")
        drills = [each for each in (told if isinstance(told, list) else ()) if isinstance(each, dict)]
        failed = [str(each.get("name")) for each in drills if each.get("failure") or each.get("verdict") == "missed"]
        table.add_row(
            Text(str(row.get("at", ""))[:16].replace("T", " ")),
            Text(str(row.get("suite", ""))),
            Text(revision_told(str(row.get("revision", "")), is_changed=bool(row.get("is_changed")))),
            Text(str(row.get("change", ""))),
            _named(drills, "worse"),
            _named(drills, "better"),
            Text(", ".join(failed)),
            "accepted" if row.get("accepted") else "",
        )
    return table


def _named(drills: Sequence[Mapping[str, Any]], finding: str) -> Text:
    found = [(each.get("name"), each.get(finding)) for each in drills]
    return Text(", ".join(f"{name} {len(changes)}" for name, changes in found if changes and isinstance(changes, list)))


def _verdict(line: Line) -> Text:
    whole = line.whole
    return Text("not played", "red") if whole is None else Text(whole.value, STYLES[whole])


def _figures(line: Line) -> tuple[str, str, str, str]:
    """Of several runs the last."""
    if not line.entries:
        return NOTHING, NOTHING, NOTHING, NOTHING
    told = line.entries[-1].figures
    turns, failed = number(told.get("turns")), number(told.get("failed"))
    return turns, failed, seconds(told.get("ttft.p95")), seconds(told.get("e2e.p95"))


def _change(line: Line) -> Text:
    if line.failure:
        return Text(line.failure, "red")
    if line.held is None:
        return Text("no baseline", "dim")
    told = Text()
    for finding, style in ((Finding.WORSE, "red"), (Finding.BETTER, "green")):
        if found := line.changed(finding):
            told.append(f"{'; ' if told else ''}{finding}: {_listed(found)}", style)
    return told or Text("nothing changed beyond noise")


def _listed(found: Sequence[Compared]) -> str:
    named = [f"{each.name} {interval_told(each)}" for each in found[:_MOST_NAMED]]
    more = len(found) - _MOST_NAMED
    return ", ".join(named) + (f" and {more} more" if more > 0 else "")
