"""Prints what came of a drill."""

import json
import math
from collections.abc import Sequence

import typer
from rich.console import Console
from rich.table import Table

from loadtests.conduct.order import Outcome
from loadtests.domain.figures import Figures, Slice
from loadtests.domain.reason import Cause, Reason
from loadtests.domain.verdict import Judged, Standing, Verdict, Whole
from loadtests.report.words import number, seconds, share

_MOST_FAILURES = 3
_MANY_TIMES = 10
_FIRST_TURNS = (1, 2, 3, 5, 10, 20, 30, 40, 50)
_COLOURS = {
    Standing.MET: "green",
    Standing.MISSED: "red",
    Standing.NOT_JUDGED: "yellow",
    Standing.IDLE: "dim",
}


def show_outcome(outcome: Outcome, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(told(outcome), indent=1, ensure_ascii=False))
        return
    console = Console()
    console.print()
    console.print(verdict_table(outcome.verdict.judged))
    if outcome.figures.by_turn:
        console.print()
        console.print(turn_table(outcome.figures.by_turn))
    console.print()
    for line in summary(outcome):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def told(outcome: Outcome) -> dict[str, object]:
    return {
        "folder": str(outcome.folder.path),
        "exit_code": int(outcome.exit_code),
        "incomplete": outcome.incomplete,
        "verdict": outcome.verdict.as_json(),
        "figures": outcome.figures.as_json(),
    }


def verdict_table(judged: Sequence[Judged]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("target", no_wrap=True)
    table.add_column("limit", justify="right", no_wrap=True)
    table.add_column("measured", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("")
    for each in judged:
        if each.standing is not Standing.IDLE:
            sign = "≥" if each.is_floor else "≤"
            standing = f"[{_COLOURS[each.standing]}]{each.standing}[/]"
            table.add_row(each.target, f"{sign} {each.limit:g}", number(each.measured), standing, _remark(each))
    return table


def turn_table(by_turn: Sequence[Slice]) -> Table:
    """Times to first text of some turn numbers: how a session gets slower as it grows longer, or does not."""
    shown = [each for each in by_turn if each.key in _FIRST_TURNS] or list(by_turn[:1])
    table = Table(box=None, pad_edge=False)
    for head in ("turn", "turns", "first text p50", "p95", "prompt cached"):
        table.add_column(head, justify="right", no_wrap=True)
    for each in shown:
        times = (seconds(each.ttft.p50), seconds(each.ttft.p95))
        table.add_row(f"{each.key:g}", f"{each.turns}", *times, share(each.cached_share))
    return table


def summary(outcome: Outcome) -> list[str]:
    figures = outcome.figures
    lines = [
        f"{figures.turns} turns, {figures.failed} failed; "
        f"{figures.completed} of {figures.sessions} sessions completed; "
        f"{figures.turns_per_s:.2f} turns/s, {figures.goodput_per_s:.2f} good ones; "
        f"client lag p99 {seconds(figures.client_lag.p99)}"
    ]
    lines += [f"{figures.refused} more requests were refused as they had to be"] if figures.refused else []
    lines += [f"failures: {worst_failures(figures)}"] if figures.failures else []
    lines += [f"likely reason: {each.says}" for each in _untold(outcome)[:1]]
    lines += [f"knee: about {figures.knee:g} trainees"] if figures.knee is not None else []
    lines += [f"incomplete: {outcome.incomplete}"] if outcome.incomplete else []
    lines += [f"void: {each}" for each in outcome.verdict.void]
    lines += _unproven(outcome.verdict)
    where = outcome.folder.report if outcome.folder.report.exists() else outcome.folder.path
    return [*lines, f"{outcome.verdict.whole}; all of it lies in {where}"]


def _untold(outcome: Outcome) -> list[Reason]:
    """What makes a run void says more of a late client than the reason would."""
    return [each for each in outcome.reasons if each.cause is not Cause.CLIENT or not outcome.verdict.void]


def _unproven(verdict: Verdict) -> list[str]:
    more = max((each.more for each in verdict.judged), default=0)
    if verdict.whole is not Whole.UNPROVEN or not more:
        return []
    return [f"unproven: nothing was missed, but every target could be judged only with about {more:,} more turns"]


def worst_failures(figures: Figures) -> str:
    most = sorted(figures.failures.items(), key=lambda each: (-each[1], each[0]))
    rest = len(most) - _MOST_FAILURES
    shown = ", ".join(f"{count} {name}" for name, count in most[:_MOST_FAILURES])
    return f"{shown} and {rest} other kinds" if rest > 0 else shown


def _remark(judged: Judged) -> str:
    if judged.missed_by is None or math.isinf(judged.missed_by):
        return f"{judged.why}; {judged.more:,} more would do" if judged.more else judged.why
    by = f"by {number(judged.missed_by)}{_beyond(judged.missed_by_share)}"
    return f"{by}; {judged.why}" if judged.why else by


def _beyond(limit_share: float | None) -> str:
    if limit_share is None:
        return ""
    return f" ({share(limit_share)})" if limit_share < _MANY_TIMES - 1 else f" ({1 + limit_share:.0f} times the limit)"
