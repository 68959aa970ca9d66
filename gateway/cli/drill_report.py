"""The result of a drill: tables for people, JSON for programs."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from gateway.cli.drill_plan import DrillPlan
from gateway.cli.drill_summary import DrillSummary, Figures, Percentiles, TurnRow
from gateway.cli.drill_view import failure_line, seconds, share
from gateway.cli.failure import CommandFailed

MAX_LISTED = 20
HEADINGS = (
    *("turn", "TTFT\np50 s", "\np95 s", "total\np50 s", "\np95 s"),
    *("sam-\nples", "failed", "prompt\ntokens", "\ncached", "\nshare"),
)
FOOTER = (
    "TTFT: from sending the request to the first text. p50 and p95 are nearest ranks over the samples named; a failed "
    "turn counts as one that never came."
)


@dataclass(frozen=True, slots=True)
class Report:
    plan: DrillPlan
    base_url: str
    stopped: bool
    took_s: float
    summary: DrillSummary
    rows: Sequence[TurnRow]


def show(report: Report, screen: Console) -> None:
    screen.print(_figures_table(report.summary))
    screen.print(FOOTER, markup=False)
    for line in _findings(report):
        screen.print(line, markup=False, soft_wrap=True)


def check_writable(path: Path) -> None:
    """Before the drill, since its rows cannot be had again."""
    try:
        with path.open("a", encoding="utf-8"):
            pass
    except OSError as error:
        raise CommandFailed(f"{path} cannot be written: {error.strerror}") from error


def write(report: Report, path: Path) -> None:
    try:
        path.write_text(
            json.dumps(as_json(report), ensure_ascii=False, indent=1, allow_nan=False) + "\n", encoding="utf-8"
        )
    except OSError as error:
        raise CommandFailed(f"{path} cannot be written: {error.strerror}") from error


def as_json(report: Report) -> dict[str, object]:
    plan = report.plan
    return {
        "drill": {
            "base_url": report.base_url,
            "scenario": plan.scenario,
            "trainees": plan.trainees,
            "turns": plan.turns,
            "think_s": plan.think_s,
            "timeout_s": plan.timeout_s,
            "seed": plan.seed,
            "stopped": report.stopped,
            "took_s": report.took_s,
        },
        "summary": _finite(asdict(report.summary) | {"passed": report.summary.passed and not report.stopped}),
        "turns": [_finite(asdict(row)) for row in report.rows],
    }


def _finite(value: object) -> object:
    """JSON has no infinity: a percentile that fell on a failed turn is null there, beside the number of failures."""
    match value:
        case float() if not math.isfinite(value):
            return None
        case dict():
            return {str(name): _finite(item) for name, item in value.items()}
        case list() | tuple():
            return [_finite(item) for item in value]
        case _:
            return value


def _figures_table(summary: DrillSummary) -> Table:
    # Narrow enough for a terminal of eighty columns.
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for heading in HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("replicas", overflow="fold")
    for turn, figures in summary.by_turn.items():
        table.add_row(*_cells(str(turn), figures))
    table.add_section()
    table.add_row(*_cells("all", summary.totals))
    return table


def _cells(name: str, figures: Figures) -> tuple[str, ...]:
    return (
        name,
        *_both(figures.ttft_s),
        *_both(figures.total_s),
        str(figures.total_s.samples),
        str(figures.failed),
        str(figures.prompt_tokens),
        str(figures.cached_tokens),
        share(figures.cached_tokens, figures.prompt_tokens),
        ", ".join(figures.replicas) or "-",
    )


def _both(percentiles: Percentiles) -> tuple[str, str]:
    return seconds(percentiles.p50).removesuffix(" s"), seconds(percentiles.p95).removesuffix(" s")


def _findings(report: Report) -> list[str]:
    summary, totals = report.summary, report.summary.totals
    head = (
        f"{totals.turns} of {summary.wanted_turns} turns by {report.plan.trainees} trainees in {report.took_s:.1f} s; "
        f"{totals.retried} were refused for a moment and sent again; {len(summary.failures)} failures"
    )
    changes = [
        f"trainee {change.trainee} turn {change.turn}: {change.before} -> {change.after} ({change.pin or 'no reason'})"
        for change in summary.changes
    ]
    affinity = f"sessions that changed their replica: {len({change.session for change in summary.changes})}"
    failures = [failure_line(failure) for failure in summary.failures]
    verdict = "stopped before its end" if report.stopped else "passed" if summary.passed else "FAILED"
    return [head, affinity, *_shortened(changes), *_shortened(failures), f"drill {verdict}"]


def _shortened(lines: list[str]) -> list[str]:
    more = len(lines) - MAX_LISTED
    listed = [f"  {line}" for line in lines[:MAX_LISTED]]
    return [*listed, f"  and {more} more (--json FILE holds all)"] if more > 0 else listed
