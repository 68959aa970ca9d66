"""The options of `drillyard load run`, as typer declares them."""

from pathlib import Path
from typing import Annotated

import typer

from loadtests.domain.ablation import Without
from loadtests.domain.drill import Affinity, Shape, Wire

_CLASS = "The class (by default as `drillyard load shapes` tells of each shape)"
_CROWD = "Who the trainees are: shares of all, the rest are steady"
_SHAPE = "Single shapes"
_AIM = "Whom to load"
_RUN = "The run"

_SECONDS = "SECONDS"


ShapeName = Annotated[Shape, typer.Argument(metavar="SHAPE", help="How load comes; see `drillyard load shapes`.")]

Trainees = Annotated[
    int | None, typer.Option(min=1, max=5000, help="Sessions at the same time.", rich_help_panel=_CLASS)
]
Turns = Annotated[
    str | None,
    typer.Option(metavar="20-50", help="Of each session.", rich_help_panel=_CLASS),
]
Think = Annotated[
    float | None,
    typer.Option(min=0, max=3600, metavar=_SECONDS, help="Mean time to think, log-normal.", rich_help_panel=_CLASS),
]
Reaction = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=3600,
        metavar=_SECONDS,
        help="Median time from the bell to a first message; 0: all in the same instant.",
        rich_help_panel=_CLASS,
    ),
]
Lobby = Annotated[
    float | None,
    typer.Option(
        min=0, max=3600, metavar=_SECONDS, help="Sessions are opened so long before the bell.", rich_help_panel=_CLASS
    ),
]
Allowance = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=3600,
        metavar=_SECONDS,
        help="What the timetable gives a reply; whoever is slower makes trainees late.",
        rich_help_panel=_CLASS,
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        min=0.1, max=3600, metavar=_SECONDS, help="A turn that takes longer has failed.", rich_help_panel=_CLASS
    ),
]

Leavers = Annotated[float, typer.Option(min=0, max=1, help="Leave early without closing.", rich_help_panel=_CROWD)]
Reconnecting = Annotated[
    float, typer.Option(min=0, max=1, help="Lose the stream in mid-reply, and read on.", rich_help_panel=_CROWD)
]
Impatient = Annotated[
    float, typer.Option(min=0, max=1, help="Cancel a reply, or send a message twice.", rich_help_panel=_CROWD)
]
Hostile = Annotated[float, typer.Option(min=0, max=1, help="Send what has to be refused.", rich_help_panel=_CROWD)]

Stairs = Annotated[
    str | None,
    typer.Option(metavar="5,10,20", help="Trainees at each step.", rich_help_panel=_SHAPE),
]
StairS = Annotated[
    float | None,
    typer.Option(
        "--stair",
        min=1,
        max=86_400,
        metavar=_SECONDS,
        help="How long a step, or the whole soak, lasts.",
        rich_help_panel=_SHAPE,
    ),
]
PromptShares = Annotated[
    str | None,
    typer.Option(metavar="0.25,0.5,1.01", help="Of long-prompt: shares of the window.", rich_help_panel=_SHAPE),
]
Window = Annotated[
    int | None, typer.Option(min=256, max=1_000_000, help="The model's window in tokens.", rich_help_panel=_SHAPE)
]
ReplyTokens = Annotated[
    int | None,
    typer.Option(min=1, max=100_000, help="With --wire chat: `max_tokens` of each reply.", rich_help_panel=_SHAPE),
]
Trace = Annotated[
    str | None,
    typer.Option(help="azure, mooncake, or a file in one of their formats.", rich_help_panel=_SHAPE),
]
TraceS = Annotated[
    float | None,
    typer.Option(
        "--trace-seconds", min=1, max=86_400, metavar=_SECONDS, help="So much of the trace.", rich_help_panel=_SHAPE
    ),
]
TraceRate = Annotated[
    float | None,
    typer.Option(min=0.01, max=1000, help="How much faster than recorded.", rich_help_panel=_SHAPE),
]
Faults = Annotated[
    list[str] | None,
    typer.Option(
        "--faults",
        metavar="KIND@SECONDS[:REPLICA]",
        help="What breaks, and when after the bell: kill@60:replica-1 (or busiest); may be repeated, `none` for none.",
        rich_help_panel=_SHAPE,
    ),
]

WithoutWhat = Annotated[
    Without | None,
    typer.Option(
        "--without", help="Take one thing away that makes a class hold, to see that it does.", rich_help_panel=_SHAPE
    ),
]

Data = Annotated[
    Path,
    typer.Option(help="The folder of a running `drillyard up`; used when nothing else is named.", rich_help_panel=_AIM),
]
BaseUrls = Annotated[
    list[str] | None,
    typer.Option("--base-url", help="Another server; with --affinity none several, repeated.", rich_help_panel=_AIM),
]
KeysFile = Annotated[
    Path | None, typer.Option(help="API keys for it, one a line; # begins a comment.", rich_help_panel=_AIM)
]
OperatorKey = Annotated[
    str | None,
    typer.Option(
        envvar="DRILLYARD_OPERATOR_KEY",
        show_default=False,
        help="For it too: shows its replicas and their sessions, and may drain them.",
        rich_help_panel=_AIM,
    ),
]
Scenario = Annotated[
    str | None,
    typer.Option(help="Id, locale (zh, en-GB) or part of the title; by default the first.", rich_help_panel=_AIM),
]
Model = Annotated[
    str | None, typer.Option(help="With --wire chat; by default the first that the server names.", rich_help_panel=_AIM)
]
System = Annotated[
    Path | None,
    typer.Option(
        "--system", metavar="FILE", help="With --wire chat: the text that a chat begins with.", rich_help_panel=_AIM
    ),
]
WireName = Annotated[
    Wire | None,
    typer.Option(
        help="turns: our sessions; chat: any OpenAI-compatible server, the client keeps the history.",
        rich_help_panel=_AIM,
    ),
]
History = Annotated[
    int | None,
    typer.Option(min=0, help="With --wire chat: only so many of the latest messages.", rich_help_panel=_AIM),
]
AffinityName = Annotated[
    Affinity,
    typer.Option(
        help="none: the client asks a random replica each turn, as a plain balancer would.", rich_help_panel=_AIM
    ),
]
Fleet = Annotated[
    str | None,
    typer.Option(
        metavar="sim:9[:PROFILE]",
        help="Start a stack of its own for this run, with simulated replicas (or vllm:2), and end it afterwards.",
        rich_help_panel=_AIM,
    ),
]
NotLocal = Annotated[
    list[str] | None,
    typer.Option(
        metavar="HOST",
        help="Load another host than this machine, on purpose: its name once more. May be repeated.",
        rich_help_panel=_AIM,
    ),
]
SpeedUp = Annotated[
    float | None,
    typer.Option(
        min=0.1,
        max=1000,
        help="Of simulated replicas: drill seconds in a real one; of a running stack it is asked.",
        rich_help_panel=_AIM,
    ),
]

TargetsFile = Annotated[
    Path | None,
    typer.Option(
        "--targets",
        metavar="FILE",
        help="What the run is held to; `drillyard load targets` has the default.",
        rich_help_panel=_RUN,
    ),
]
Workers = Annotated[int, typer.Option(min=1, max=64, help="Processes that play.", rich_help_panel=_RUN)]
Seed = Annotated[int, typer.Option(help="Equal seeds plan equal load.", rich_help_panel=_RUN)]
Folder = Annotated[Path, typer.Option(help="Where runs are kept, a folder each.", rich_help_panel=_RUN)]
Price = Annotated[
    float | None, typer.Option(min=0, help="Of a replica for an hour, for the cost per drill.", rich_help_panel=_RUN)
]
Plan = Annotated[bool, typer.Option("--plan", help="Say what would be offered, and leave.", rich_help_panel=_RUN)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON alone, for programs.", rich_help_panel=_RUN)]
