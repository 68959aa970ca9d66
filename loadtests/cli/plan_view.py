"""Prints what load a drill would offer."""

import json
from dataclasses import asdict

import typer
from rich.console import Console
from rich.table import Table

from loadtests.domain.drill import Drill
from loadtests.domain.offered import Offered


def show_plan(drill: Drill, load: Offered, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"drill": drill.as_json(), "offered": asdict(load)}, indent=1, ensure_ascii=False))
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, value in plan_rows(drill, load):
        table.add_row(name, value)
    Console().print(table)


def plan_rows(drill: Drill, load: Offered) -> list[tuple[str, str]]:
    rows = [
        ("shape", f"{drill.shape}, wire {drill.wire}"),
        ("trainees", f"{load.trainees}"),
        ("sessions", f"{load.sessions}"),
        ("turns", f"{load.turns}"),
        ("length", f"{_minutes(load.length_s)} from the bell, if the system keeps up"),
        ("turns per second", f"{load.mean_per_s:.2f} on average"),
        ("busiest ten seconds", f"{load.peak_per_s:.2f} turns per second, from {load.peak_at_s:.0f} s on"),
        ("digest", drill.digest),
    ]
    if drill.faults:
        rows.append(("faults", ", ".join(drill.faults)))
    return rows


def _minutes(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole // 60} min {whole % 60:02d} s" if whole >= 60 else f"{whole} s"  # noqa: PLR2004  a minute
