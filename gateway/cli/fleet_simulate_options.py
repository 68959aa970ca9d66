"""The options of `drillyard fleet simulate`, each with its bounds and what it means."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

CLASSES, POOL, TROUBLE, OUTPUT = "The classes", "The pool", "What goes wrong", "What is told"


class Example(StrEnum):
    WEEK = "week"


Calendar = Annotated[
    Path | None,
    typer.Option(metavar="FILE", rich_help_panel=CLASSES, help="CSV or iCalendar, as `drillyard drill import`."),
]
OfExample = Annotated[
    Example | None, typer.Option(rich_help_panel=CLASSES, help="40 classes in three time zones over a DST change.")
]
Model = Annotated[
    str | None,
    typer.Option(
        "--pool", metavar="MODEL", rich_help_panel=CLASSES, help="Which pool of a running service: its coming week."
    ),
]
Days = Annotated[
    int, typer.Option(min=1, max=92, rich_help_panel=CLASSES, help="Classes within so many days from the first.")
]
Trainees = Annotated[
    int, typer.Option(min=1, max=10_000, rich_help_panel=CLASSES, help="Of classes whose row does not say it.")
]
Timezone = Annotated[
    str | None,
    typer.Option(rich_help_panel=CLASSES, metavar="ZONE", help="Of times that name none, such as Europe/Berlin."),
]
Seats = Annotated[int | None, typer.Option(min=1, rich_help_panel=POOL, help="Sessions a replica holds; by default 8.")]
Maximum = Annotated[
    int | None, typer.Option(min=0, max=2_000, rich_help_panel=POOL, help="Replicas at most; by default 40.")
]
Minimum = Annotated[int | None, typer.Option(min=0, rich_help_panel=POOL, help="Replicas at any time; by default 0.")]
Reserve = Annotated[
    int | None, typer.Option(min=0, rich_help_panel=POOL, help="Replicas beyond what the seats need; by default 0.")
]
LeadMinutes = Annotated[
    float | None,
    typer.Option("--lead", min=0, max=1440, metavar="MINUTES", rich_help_panel=POOL, help="By default 30."),
]
AtOnce = Annotated[
    int, typer.Option("--starts-at-once", min=1, max=1_000, rich_help_panel=POOL, help="Starts side by side.")
]
ColdStart = Annotated[
    str, typer.Option(metavar="SECONDS", rich_help_panel=TROUBLE, help="From the order until it is warm.")
]
Failures = Annotated[
    float, typer.Option(min=0, max=1, rich_help_panel=TROUBLE, help="Share of starts that come to nothing.")
]
Kills = Annotated[
    float, typer.Option(min=0, max=0.5, rich_help_panel=TROUBLE, help="Share of rounds the controller dies in.")
]
Blackouts = Annotated[
    float,
    typer.Option(min=0, max=0.5, rich_help_panel=TROUBLE, help="Share of looks at host, calendar, routers in vain."),
]
Abandoned = Annotated[
    float, typer.Option(min=0, max=1, rich_help_panel=TROUBLE, help="Share of trainees who leave their session open.")
]
Seed = Annotated[int, typer.Option(rich_help_panel=TROUBLE, help="Another one, another course of things.")]
Tick = Annotated[
    float, typer.Option(min=1, max=60, metavar="SECONDS", rich_help_panel=TROUBLE, help="Between two rounds.")
]
Price = Annotated[
    float | None,
    typer.Option(
        min=0,
        envvar="DRILLYARD_FLEET__PRICE_PER_GPU_HOUR",
        show_envvar=False,  # its name is too long for the table
        rich_help_panel=OUTPUT,
        help="Of an hour of a GPU.",
    ),
]
Gpus = Annotated[int, typer.Option("--gpus-per-replica", min=1, max=64, rich_help_panel=OUTPUT)]
JsonFile = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", rich_help_panel=OUTPUT, help="All of it; - prints only that."),
]
HtmlFile = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", rich_help_panel=OUTPUT, help="A page with the chart.")
]
