"""`drillyard capacity`: sessions of a replica, replicas of a class, and the flags of vLLM for them."""

import json
from dataclasses import replace

import typer
from rich.console import Console

from gateway.cli import capacity_options as options
from gateway.cli.capacity_model import found_model
from gateway.cli.capacity_profile import write_profile
from gateway.cli.capacity_view import as_json, budget_table, lines, plan_table
from gateway.cli.failure import CommandFailed
from router.fleet.domain.capacity import Asked, CapacityPlan, DoesNotFit, Targets, plan_capacity
from router.fleet.domain.class_times import Turns
from router.fleet.domain.devices import DEVICES, GIB, GIGA, TERA, Device, device
from router.fleet.domain.drill_cost import Tariff
from router.fleet.domain.kv_cache import KvDtype
from router.fleet.domain.memory_budget import ReplicaSetup
from router.fleet.domain.model_config import ModelConfig
from router.fleet.domain.speculation import Speculation
from router.fleet.domain.weights import Quantisation

EXAMPLES = (
    "Examples:\n\n"
    "  drillyard capacity --model qwen2.5-7b --device l40s --trainees 300\n\n"
    "  drillyard capacity --model qwen2.5-14b --device l40s --quantization fp8 --kv-cache-dtype fp8 --price 1.10\n\n"
    "  drillyard capacity --model /models/current --device h200 --window 8192 --profile deploy/vllm/mine.yaml\n\n"
    "  drillyard capacity --model qwen3-8b --spec-tokens 4 --acceptance 0.6 --measured-start 150 --json\n\n"
    "Weights and KV are exact, times are estimates. Leaves with 1 when the model does not fit."
)
PLAIN_WIDTH = 120
SECONDS = 60


def capacity(  # noqa: PLR0913 - one argument for each option of the command line
    *,
    model: options.Model = "Qwen2.5-7B-Instruct",
    quantisation: options.Quantization = Quantisation.BF16,
    kv_dtype: options.KvCacheDtype = KvDtype.AUTO,
    spec_tokens: options.SpecTokens = 0,
    draft_model: options.DraftModel = None,
    acceptance: options.Acceptance = 0.5,
    device_name: options.DeviceName = "l40s",
    memory_gib: options.MemoryGib = None,
    bandwidth_gb_s: options.BandwidthGbS = None,
    tflops: options.Tflops = None,
    window: options.Window = 4096,
    utilization: options.Utilization = 0.92,
    max_num_seqs: options.MaxNumSeqs = 128,
    batched_tokens: options.BatchedTokens = 2048,
    eager: options.Eager = False,
    trainees: options.Trainees = 100,
    think: options.Think = 20.0,
    new: options.NewTokens = 150,
    reply: options.ReplyTokens = 120,
    average: options.AverageTokens = None,
    first: options.FirstTokens = 1500,
    shared: options.SharedTokens = 0,
    ttft: options.Ttft = 1.5,
    tpot: options.Tpot = 0.05,
    reserve: options.Reserve = 0,
    price: options.Price = 0.0,
    drill_minutes: options.DrillMinutes = 60.0,
    lead_minutes: options.LeadMinutes = 30.0,
    drain_minutes: options.DrainMinutes = 5.0,
    measured_start: options.MeasuredStart = None,
    safety: options.Safety = 2.0,
    json_asked: options.AsJson = False,
    profile: options.Profile = None,
) -> None:
    """Plan memory, replicas and cost of a class, and write vLLM's flags for it. Asks no server; computes only."""
    on = _device(device_name, memory_gib=memory_gib, bandwidth_gb_s=bandwidth_gb_s, tflops=tflops)
    setup = _setup(found_model(model), on, window, max_num_seqs, batched_tokens, utilization)
    speculation = _speculation(spec_tokens, acceptance, draft_model)
    setup = replace(setup, quantisation=quantisation, kv_dtype=kv_dtype, eager=eager, speculation=speculation)
    turns = _turns(think, new, reply, average or window, first, shared)
    tariff = _tariff(price, drill_minutes, lead_minutes, drain_minutes, measured_start, safety)
    targets = Targets(ttft_p95_s=ttft, token_s=tpot)
    _check(setup, turns)
    found = plan_capacity(
        Asked(setup=setup, turns=turns, trainees=trainees, targets=targets, tariff=tariff, reserve=reserve)
    )
    _tell(found, json_asked=json_asked)
    if isinstance(found, DoesNotFit):
        raise typer.Exit(1)
    if profile is not None:
        write_profile(found, profile)


def _tell(found: CapacityPlan | DoesNotFit, *, json_asked: bool) -> None:
    if json_asked:
        typer.echo(json.dumps(as_json(found), indent=2))
        return
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PLAIN_WIDTH)
    console.print(budget_table(found))
    if isinstance(found, CapacityPlan):
        console.print(plan_table(found))
    for line in lines(found):
        typer.echo(line)


def _device(name: str, *, memory_gib: float | None, bandwidth_gb_s: float | None, tflops: float | None) -> Device:
    found = device(name.casefold())
    if found is None:
        known = ", ".join(one.name for one in DEVICES)
        advice = f"name one of {known}, and give yours by --memory-gib, --bandwidth-gb-s and --tflops"
        raise CommandFailed(f"no device {name!r} is known", advice=advice)
    if memory_gib is not None:
        found = replace(found, memory_bytes=int(memory_gib * GIB))
    if bandwidth_gb_s is not None:
        found = replace(found, bandwidth=bandwidth_gb_s * GIGA)
    return found if tflops is None else replace(found, bf16_flops=tflops * TERA)


def _speculation(tokens: int, acceptance: float, draft: str | None) -> Speculation | None:
    if not tokens:
        if draft is not None:
            raise CommandFailed("--draft-model guesses nothing", advice="say how much ahead by --spec-tokens")
        return None
    # vLLM is told where the draft model is, as it was told here.
    guesser = None if draft is None else replace(found_model(draft), name=draft)
    return Speculation(tokens=tokens, acceptance=acceptance, draft=guesser)


def _setup(model: ModelConfig, on: Device, window: int, seqs: int, batched: int, utilization: float) -> ReplicaSetup:
    return ReplicaSetup(
        model=model,
        device=on,
        window_tokens=window,
        max_num_seqs=seqs,
        max_num_batched_tokens=batched,
        utilisation=utilization,
    )


def _turns(think: float, new: int, reply: int, context: int, first: int, shared: int) -> Turns:
    return Turns(
        think_s=think,
        new_tokens=new,
        reply_tokens=reply,
        context_tokens=context,
        first_tokens=first,
        shared_tokens=shared,
    )


def _tariff(price: float, drill: float, lead: float, drain: float, measured_s: float | None, safety: float) -> Tariff:
    return Tariff(
        price_per_hour=price,
        drill_s=SECONDS * drill,
        lead_s=SECONDS * lead,
        drain_s=SECONDS * drain,
        measured_start_s=measured_s,
        safety=safety,
    )


def _check(setup: ReplicaSetup, turns: Turns) -> None:
    """Refuse figures that contradict each other, by the names of their options."""
    window, longest = setup.window_tokens, setup.model.longest_context
    if window > longest:
        raise CommandFailed(f"--window {window} is more than the {longest} tokens that {setup.model.name} was made for")
    for option, tokens in (
        ("--average", turns.context_tokens),
        ("--first", turns.first_tokens),
        ("--shared", turns.shared_tokens),
        ("--new and --reply", turns.new_tokens + turns.reply_tokens),
    ):
        if tokens > window:
            raise CommandFailed(f"{option} ({tokens} tokens) cannot be more than --window {window}")
