"""`drillyard load shapes`: the shapes of load, and what each is for."""

import typer
from rich.console import Console
from rich.table import Table

from loadtests.domain.drill import Shape
from loadtests.domain.usual_drills import DEFAULTS

PURPOSES = {
    Shape.SINGLE: "What one trainee gets from an idle system: the floor of every other figure.",
    Shape.CLASS: "A class: everybody begins at one bell, and thinks between turns.",
    Shape.STAIRCASE: "More trainees step by step, until throughput grows no more: where the knee is.",
    Shape.LONG_PROMPT: "Prompts of 25, 50, 75, 95 and 101 % of the window; the last must be refused, not lost.",
    Shape.LONG_OUTPUT: "Replies up to their cap: how long a stream holds.",
    Shape.KV: "More context than the replicas' memory holds: preemptions are expected, failures are not.",
    Shape.RECOVERY: "A class during which replicas, Redis, Postgres or the gateway break.",
    Shape.SOAK: "A steady number of trainees for a long time: what grows or leaks.",
    Shape.TRACE: "Requests at the times and of the lengths of a recorded trace; nobody waits for anybody.",
}


def shapes() -> None:
    """List the shapes of load, what each is for, and with which options it runs by default."""
    table = Table(box=None, pad_edge=False)
    table.add_column("shape", no_wrap=True)
    table.add_column("what it is for")
    table.add_column("by default")
    for shape in Shape:
        table.add_row(shape.value, PURPOSES[shape], DEFAULTS[shape].told)
    Console().print(table)
    typer.echo("\nEach is played by `drillyard load run SHAPE`; its --help has the options.")
    typer.echo("What it would have besides, `drillyard load run SHAPE --plan --json` tells.")
