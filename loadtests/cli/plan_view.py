"""Prints what load a drill would offer."""

import json
from collections.abc import Sequence
from dataclasses import asdict

import typer
from rich.console import Console
from rich.table import Table

from loadtests.domain.drill import Drill
from loadtests.domain.offered import Offered
from loadtests.domain.verdict import Judged

_MOST_NAMED = 2


def show_plan(drill: Drill, load: Offered, lacking: Sequence[Judged], *, as_json: bool) -> None:
    """`lacking`: the targets for which it has too few turns."""
    if as_json:
        told = {
            "drill": drill.as_json(),
            "offered": asdict(load),
            "real_length_s": load.length_s / drill.speed_up,
            "lacking": {each.target: each.more for each in lacking},
        }
        typer.echo(json.dumps(told, indent=1, ensure_ascii=False))
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, value in plan_rows(drill, load, lacking):
        table.add_row(name, value)
    Console().print(table)


def plan_rows(drill: Drill, load: Offered, lacking: Sequence[Judged]) -> list[tuple[str, str]]:
    rows = [
        ("shape", f"{drill.shape}, wire {drill.wire}"),
        ("trainees", f"{load.trainees}"),
        ("sessions", f"{load.sessions}"),
        ("turns", f"{load.turns}"),
        ("length", f"{_minutes(load.length_s)} from the bell{_really(drill, load)}, if the system keeps up"),
        ("turns per second", f"{load.mean_per_s:.2f} on average"),
        ("busiest ten seconds", f"{load.peak_per_s:.2f} turns per second, from {load.peak_at_s:.0f} s on"),
        ("enough for", _enough(lacking)),
        ("digest", drill.digest),
    ]
    if drill.faults:
        rows.append(("faults", ", ".join(drill.faults)))
    return rows


def _really(drill: Drill, load: Offered) -> str:
    return "" if drill.speed_up == 1 else f", really {_minutes(load.length_s / drill.speed_up)}"


def _enough(lacking: Sequence[Judged]) -> str:
    """Bells are heard once in a session: more turns of it would not do."""
    if not lacking:
        return "every target, if none of its turns fails"
    named = [
        f"{each.target} ({each.more:,} more {'sessions' if each.target.startswith('bell') else 'turns'} would do)"
        for each in lacking[:_MOST_NAMED]
    ]
    rest = len(lacking) - len(named)
    return f"not for {', '.join(named)}" + (f" and {rest} more" if rest else "")


def _minutes(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole // 60} min {whole % 60:02d} s" if whole >= 60 else f"{whole} s"  # noqa: PLR2004  a minute
