"""`drillyard sim`: replicas without a GPU. vLLM's own flags where vLLM has one."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from loadtests.simulator import profile_files
from loadtests.simulator.cli_fleet import serve_fleet
from loadtests.simulator.cli_profiles import calibrate_live, show_profiles
from loadtests.simulator.domain.engine import Engine
from loadtests.simulator.domain.profile import Profile, flaws
from loadtests.simulator.domain.scheduler import Scheduling
from loadtests.simulator.errors import SimulatorError
from loadtests.simulator.options import Options
from loadtests.simulator.script import Script, read_script
from loadtests.simulator.serving import run_replica

_DEV_MODE = "VLLM_SERVER_DEV_MODE"
_EXAMPLES = (
    "Examples:\n\n"
    "  drillyard sim serve --port 8001 --profile 48gb-14b-after --speed-up 20\n\n"
    "  drillyard sim serve --port 8002 --script scenario.json --admin-port 9002"
)


def serve(  # noqa: PLR0913  one parameter per option is how typer declares them
    *,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free one, and says which.")] = 8000,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    profile: Annotated[str, typer.Option(help="A profile's name, or the path of its JSON.")] = "cpu-smollm2",
    speed_up: Annotated[float, typer.Option(min=0.001, help="Simulated seconds per real second.")] = 1.0,
    load_s: Annotated[float | None, typer.Option(min=0, help="Simulated seconds until the port opens.")] = None,
    model: Annotated[
        Path | None, typer.Option(exists=True, help="A model folder, for its tokenizer and chat template.")
    ] = None,
    served_model_name: Annotated[str, typer.Option(help="The name in requests and answers.")] = "smollm2",
    seed: Annotated[int, typer.Option(help="Decides what the model says, with the prompt.")] = 0,
    script: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="JSON with replies, and faults with times.")
    ] = None,
    admin_port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Serves /sim/... also while the other port is closed.")
    ] = None,
    max_model_len: Annotated[int | None, typer.Option(min=1, help="Window in tokens.")] = None,
    max_num_seqs: Annotated[int | None, typer.Option(min=1, help="Sequences that run at once.")] = None,
    max_num_batched_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens of one step.")] = None,
    max_num_queued_reqs: Annotated[
        int | None, typer.Option(min=0, help="Requests that may wait; more are refused with 503.")
    ] = None,
    block_size: Annotated[int | None, typer.Option(min=1, help="Tokens per block of the cache.")] = None,
    num_gpu_blocks_override: Annotated[int | None, typer.Option(min=1, help="Blocks of the cache.")] = None,
    scheduling_policy: Annotated[Scheduling, typer.Option(help="Who goes first.")] = Scheduling.FCFS,
    enable_prefix_caching: Annotated[bool, typer.Option(help="Keep computed prefixes.")] = True,
    enable_prompt_tokens_details: Annotated[bool, typer.Option(help="Tell cached tokens in usage.")] = False,
    enable_request_id_headers: Annotated[bool, typer.Option(help="Answer with X-Request-Id.")] = False,
    enable_server_load_tracking: Annotated[bool, typer.Option(help="Make /load count.")] = False,
    enable_per_request_metrics: Annotated[bool, typer.Option(help="Tell each request's times.")] = False,
    enable_force_include_usage: Annotated[bool, typer.Option(help="Usage in every chunk, asked for or not.")] = False,
    enable_scale_out: Annotated[bool, typer.Option(help="Taken, and without effect.")] = False,
    sse_keep_alive_interval: Annotated[int, typer.Option(min=0, help="Seconds between comments; 0: none.")] = 0,
    shutdown_timeout: Annotated[float, typer.Option(min=0, help="Seconds to finish in after SIGTERM.")] = 0.0,
    api_key: Annotated[str | None, typer.Option(help="Guards /v1.")] = None,
) -> None:
    """Serve one replica until SIGTERM, or until a fault ends it.

    All times are simulated seconds. VLLM_SERVER_DEV_MODE=1 adds the routes of vLLM's development mode.
    """
    options = Options(
        served_model_name=served_model_name,
        model=model,
        seed=seed,
        speed_up=speed_up,
        host=host,
        port=port,
        admin_port=admin_port,
        shutdown_timeout_s=shutdown_timeout,
        api_key=api_key,
        dev_mode=os.environ.get(_DEV_MODE) == "1",
        enable_prompt_tokens_details=enable_prompt_tokens_details,
        enable_request_id_headers=enable_request_id_headers,
        enable_server_load_tracking=enable_server_load_tracking,
        enable_per_request_metrics=enable_per_request_metrics,
        enable_force_include_usage=enable_force_include_usage,
        enable_scale_out=enable_scale_out,
        sse_keep_alive_interval_s=sse_keep_alive_interval,
    )
    overrides = {
        "window_tokens": max_model_len,
        "max_sequences": max_num_seqs,
        "max_batched_tokens": max_num_batched_tokens,
        "max_queued_requests": max_num_queued_reqs,
        "block_tokens": block_size,
    }
    try:
        tuned = _tuned(profile_files.load(profile), overrides, load_s=load_s, blocks=num_gpu_blocks_override)
        asked = Script() if script is None else read_script(script)
        engine = Engine(tuned, policy=scheduling_policy, caches_prefixes=enable_prefix_caching)
        status = run_replica(options, engine, asked)
    except (SimulatorError, OSError) as error:
        typer.echo(f"drillyard sim: {error}", err=True)
        raise typer.Exit(1) from error
    raise typer.Exit(status)


def _tuned(profile: Profile, limits: dict[str, int | None], *, load_s: float | None, blocks: int | None) -> Profile:
    """The profile with what the flags say instead."""
    named = {name: value for name, value in limits.items() if value is not None}
    start_up = profile.start_up if load_s is None else replace(profile.start_up, load_s=load_s)
    memory = profile.memory if blocks is None else replace(profile.memory, blocks=blocks)
    tuned = replace(profile, limits=replace(profile.limits, **named), start_up=start_up, memory=memory)
    if found := "; ".join(flaws(tuned)):
        raise profile_files.UnusableProfile(found)
    return tuned


def _application() -> typer.Typer:
    application = typer.Typer(
        help="Replicas without a GPU that speak vLLM's HTTP API.",
        epilog=_EXAMPLES,
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    application.command("serve")(serve)
    application.command("fleet")(serve_fleet)
    application.command("profiles")(show_profiles)
    application.command("calibrate")(calibrate_live)
    return application


app = _application()
