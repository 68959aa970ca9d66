"""The options of `drillyard capacity`, each with its bounds and what it means."""

from pathlib import Path
from typing import Annotated, Final

import typer

from router.fleet.domain.devices import DEVICES
from router.fleet.domain.kv_cache import KvDtype
from router.fleet.domain.weights import Quantisation

MODEL: Final = "The model"
DEVICE: Final = "What it runs on"
REPLICA: Final = "How a replica is started"
CLASS: Final = "The class"
COST: Final = "What it costs"
OUTPUT: Final = "What is told"
MOST_TOKENS: Final = 1_000_000

Model = Annotated[
    str,
    typer.Option(
        metavar="NAME|PATH", rich_help_panel=MODEL, help="A known name, or a folder or file with a config.json."
    ),
]
Quantization = Annotated[
    Quantisation, typer.Option("--quantization", rich_help_panel=MODEL, help="Bits of the layers' weights.")
]
KvCacheDtype = Annotated[KvDtype, typer.Option("--kv-cache-dtype", rich_help_panel=MODEL, help="Type of the KV cache.")]
SpecTokens = Annotated[
    int, typer.Option(min=0, max=32, rich_help_panel=MODEL, help="Tokens guessed ahead; 0: no speculative decoding.")
]
DraftModel = Annotated[
    str | None,
    typer.Option(metavar="NAME|PATH", rich_help_panel=MODEL, help="The model that guesses; without one, ngram."),
]
Acceptance = Annotated[
    float,
    typer.Option(min=0, max=1, rich_help_panel=MODEL, help="Share of guessed tokens that is accepted; measure yours."),
]

DeviceName = Annotated[
    str,
    typer.Option("--device", rich_help_panel=DEVICE, help=f"One of {', '.join(one.name for one in DEVICES)}."),
]
MemoryGib = Annotated[
    float | None,
    typer.Option(min=0.5, max=2048, rich_help_panel=DEVICE, help="Memory as the driver shows it, in GiB."),
]
BandwidthGbS = Annotated[
    float | None, typer.Option(min=1, max=100_000, rich_help_panel=DEVICE, help="Memory bandwidth in GB/s.")
]
Tflops = Annotated[
    float | None, typer.Option(min=0.01, max=100_000, rich_help_panel=DEVICE, help="Dense bfloat16 compute in TFLOP/s.")
]

Window = Annotated[
    int,
    typer.Option(min=256, max=MOST_TOKENS, rich_help_panel=REPLICA, help="Tokens of a session at most: max-model-len."),
]
Utilization = Annotated[
    float, typer.Option(min=0.1, max=0.99, rich_help_panel=REPLICA, help="Share of all memory: gpu-memory-utilization.")
]
MaxNumSeqs = Annotated[int, typer.Option(min=1, max=4096, rich_help_panel=REPLICA, help="Sequences that run at once.")]
BatchedTokens = Annotated[
    int,
    typer.Option(
        "--max-num-batched-tokens", min=256, max=MOST_TOKENS, rich_help_panel=REPLICA, help="Tokens of a step."
    ),
]
Eager = Annotated[bool, typer.Option("--enforce-eager", rich_help_panel=REPLICA, help="Without CUDA graphs.")]

Trainees = Annotated[int, typer.Option(min=1, max=10_000, rich_help_panel=CLASS, help="Sessions at the same time.")]
Think = Annotated[
    float,
    typer.Option(min=0.1, max=3600, metavar="SECONDS", rich_help_panel=CLASS, help="From a reply to the next message."),
]
NewTokens = Annotated[
    int,
    typer.Option("--new", min=1, max=MOST_TOKENS, rich_help_panel=CLASS, help="Tokens of a turn that no cache holds."),
]
ReplyTokens = Annotated[
    int, typer.Option("--reply", min=1, max=MOST_TOKENS, rich_help_panel=CLASS, help="Tokens of an average reply.")
]
AverageTokens = Annotated[
    int | None,
    typer.Option(
        "--average", min=1, max=MOST_TOKENS, rich_help_panel=CLASS, help="Average context; by default the whole window."
    ),
]
FirstTokens = Annotated[
    int, typer.Option("--first", min=1, max=MOST_TOKENS, rich_help_panel=CLASS, help="Tokens of the first prompt.")
]
SharedTokens = Annotated[
    int,
    typer.Option(
        "--shared", min=0, max=MOST_TOKENS, rich_help_panel=CLASS, help="Tokens that all sessions begin with."
    ),
]
Ttft = Annotated[
    float,
    typer.Option(min=0.01, max=600, metavar="SECONDS", rich_help_panel=CLASS, help="Limit: 95 % of first tokens."),
]
Tpot = Annotated[
    float, typer.Option(min=0.001, max=60, metavar="SECONDS", rich_help_panel=CLASS, help="Limit: mean time per token.")
]
Reserve = Annotated[int, typer.Option(min=0, max=1000, rich_help_panel=CLASS, help="Replicas beyond the plan.")]

Price = Annotated[
    float, typer.Option(min=0, max=10_000, rich_help_panel=COST, help="Of a replica's hour, in your money.")
]
DrillMinutes = Annotated[float, typer.Option(min=1, max=1440, rich_help_panel=COST, help="From the bell to the end.")]
LeadMinutes = Annotated[
    float, typer.Option(min=0, max=1440, rich_help_panel=COST, help="How long before the bell replicas are started.")
]
DrainMinutes = Annotated[
    float, typer.Option(min=0, max=1440, rich_help_panel=COST, help="From the end to the last stop.")
]
MeasuredStart = Annotated[
    float | None,
    typer.Option(
        min=1,
        max=7200,
        metavar="SECONDS",
        rich_help_panel=COST,
        help="Measured p95 of start to warm, for a second price.",
    ),
]
Safety = Annotated[float, typer.Option(min=1, max=10, rich_help_panel=COST, help="Measured start x this is the lead.")]

AsJson = Annotated[bool, typer.Option("--json", rich_help_panel=OUTPUT, help="JSON instead of tables.")]
Profile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", rich_help_panel=OUTPUT, help="Write the flags for `vllm serve MODEL --config FILE`."),
]
