"""`drillyard sim serve`: one replica, set up with vLLM's own flags where vLLM has one."""

import os
from pathlib import Path
from typing import Annotated

import typer

from loadtests.simulator.domain.engine import Engine
from loadtests.simulator.domain.scheduler import Scheduling
from loadtests.simulator.errors import SimulatorError
from loadtests.simulator.options import Options
from loadtests.simulator.profile_files import load
from loadtests.simulator.script import Script, read_script
from loadtests.simulator.serving import run_replica
from loadtests.simulator.tuning import Tuning, tuned

_DEV_MODE = "VLLM_SERVER_DEV_MODE"

_Port = Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free one, and says which.")]
_Host = Annotated[str, typer.Option(help="Address to listen on.")]
_Profile = Annotated[str, typer.Option(help="A profile's name, or the path of its JSON.")]
_SpeedUp = Annotated[float, typer.Option(min=0.001, help="Simulated seconds per real second.")]
_LoadS = Annotated[float | None, typer.Option(min=0, help="Simulated seconds until the port opens.")]
_Model = Annotated[Path | None, typer.Option(exists=True, help="A model folder, for its tokenizer and chat template.")]
_ServedModelName = Annotated[str, typer.Option(help="The name in requests and answers.")]
_Seed = Annotated[int, typer.Option(help="Decides what the model says, with the prompt.")]
_Script = Annotated[
    Path | None,
    typer.Option(
        exists=True,
        dir_okay=False,
        envvar="DRILLYARD_SIM_SCRIPT",
        help="JSON with replies, and faults with times.",
    ),
]
_AdminPort = Annotated[
    int | None, typer.Option(min=1, max=65535, help="Serves /sim/... also while the other port is closed.")
]
_MaxModelLen = Annotated[int | None, typer.Option(min=1, help="Window in tokens.")]
_MaxNumSeqs = Annotated[int | None, typer.Option(min=1, help="Sequences that run at once.")]
_MaxNumBatchedTokens = Annotated[int | None, typer.Option(min=1, help="Tokens of one step.")]
_MaxNumQueuedReqs = Annotated[
    int | None, typer.Option(min=0, help="Requests that may wait; more are refused with 503.")
]
_BlockSize = Annotated[int | None, typer.Option(min=1, help="Tokens per block of the cache.")]
_NumGpuBlocksOverride = Annotated[int | None, typer.Option(min=1, help="Blocks of the cache.")]
_SchedulingPolicy = Annotated[Scheduling, typer.Option(help="Who goes first.")]
_EnablePrefixCaching = Annotated[bool, typer.Option(help="Keep computed prefixes.")]
_EnablePromptTokensDetails = Annotated[bool, typer.Option(help="Tell cached tokens in usage.")]
_EnableRequestIdHeaders = Annotated[bool, typer.Option(help="Answer with X-Request-Id.")]
_EnableServerLoadTracking = Annotated[bool, typer.Option(help="Make /load count.")]
_EnablePerRequestMetrics = Annotated[bool, typer.Option(help="Tell each request's times.")]
_EnableForceIncludeUsage = Annotated[bool, typer.Option(help="Usage in every chunk, asked for or not.")]
_EnableScaleOut = Annotated[bool, typer.Option(help="Taken, and without effect.")]
_SseKeepAliveInterval = Annotated[int, typer.Option(min=0, help="Seconds between comments; 0: none.")]
_ShutdownTimeout = Annotated[float, typer.Option(min=0, help="Seconds to finish in after SIGTERM.")]
_ApiKey = Annotated[str | None, typer.Option(help="Guards /v1.")]


def serve(  # noqa: PLR0913  one parameter per option is how typer declares them
    *,
    port: _Port = 8000,
    host: _Host = "127.0.0.1",
    profile: _Profile = "cpu-smollm2",
    speed_up: _SpeedUp = 1.0,
    load_s: _LoadS = None,
    model: _Model = None,
    served_model_name: _ServedModelName = "smollm2",
    seed: _Seed = 0,
    script: _Script = None,
    admin_port: _AdminPort = None,
    max_model_len: _MaxModelLen = None,
    max_num_seqs: _MaxNumSeqs = None,
    max_num_batched_tokens: _MaxNumBatchedTokens = None,
    max_num_queued_reqs: _MaxNumQueuedReqs = None,
    block_size: _BlockSize = None,
    num_gpu_blocks_override: _NumGpuBlocksOverride = None,
    scheduling_policy: _SchedulingPolicy = Scheduling.FCFS,
    enable_prefix_caching: _EnablePrefixCaching = True,
    enable_prompt_tokens_details: _EnablePromptTokensDetails = False,
    enable_request_id_headers: _EnableRequestIdHeaders = False,
    enable_server_load_tracking: _EnableServerLoadTracking = False,
    enable_per_request_metrics: _EnablePerRequestMetrics = False,
    enable_force_include_usage: _EnableForceIncludeUsage = False,
    enable_scale_out: _EnableScaleOut = False,
    sse_keep_alive_interval: _SseKeepAliveInterval = 0,
    shutdown_timeout: _ShutdownTimeout = 0.0,
    api_key: _ApiKey = None,
) -> None:
    """Serve one replica until SIGTERM, or until a fault ends it.

    All times are simulated seconds. VLLM_SERVER_DEV_MODE=1 adds the routes of vLLM's development mode.
    """
    # Laid out by hand: one line for some flags, where the formatter would take one for each.
    options = Options(
        host=host, port=port, admin_port=admin_port, api_key=api_key, dev_mode=os.environ.get(_DEV_MODE) == "1",
        model=model, served_model_name=served_model_name, seed=seed, speed_up=speed_up,
        enable_prompt_tokens_details=enable_prompt_tokens_details, enable_request_id_headers=enable_request_id_headers,
        enable_server_load_tracking=enable_server_load_tracking, enable_scale_out=enable_scale_out,
        enable_per_request_metrics=enable_per_request_metrics, enable_force_include_usage=enable_force_include_usage,
        sse_keep_alive_interval_s=sse_keep_alive_interval, shutdown_timeout_s=shutdown_timeout,
    )  # fmt: skip
    tuning = Tuning(
        max_model_len=max_model_len, max_num_seqs=max_num_seqs, max_num_batched_tokens=max_num_batched_tokens,
        max_num_queued_reqs=max_num_queued_reqs, block_size=block_size, blocks=num_gpu_blocks_override, load_s=load_s,
    )  # fmt: skip
    try:
        asked = Script() if script is None else read_script(script)
        engine = Engine(tuned(load(profile), tuning), policy=scheduling_policy, caches_prefixes=enable_prefix_caching)
        status = run_replica(options, engine, asked)
    except (SimulatorError, OSError) as error:
        typer.echo(f"drillyard sim: {error}", err=True)
        raise typer.Exit(1) from error
    raise typer.Exit(status)
