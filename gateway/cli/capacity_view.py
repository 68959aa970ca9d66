"""A capacity plan on a terminal and as JSON; what is computed from estimates is marked so."""

from collections.abc import Iterator
from dataclasses import asdict

from rich.box import SIMPLE_HEAD
from rich.table import Table

from router.fleet.domain.capacity import CapacityPlan, DoesNotFit
from router.fleet.domain.cautions import cautions
from router.fleet.domain.devices import GIB
from router.fleet.domain.drill_cost import DrillCost
from router.fleet.domain.memory_budget import MemoryBudget
from router.fleet.domain.vllm_profile import command_line, environment, vllm_flags

ESTIMATE = "estimate"
KIB = 1024


def budget_table(found: CapacityPlan | DoesNotFit) -> Table:
    setup, budget = found.asked.setup, found.budget
    table = _table(f"memory of {setup.model.name} on {setup.device.name}", "GiB", "")
    for name, size, remark in _budget_rows(budget):
        table.add_row(name, f"{size / GIB:.2f}", remark)
    table.add_section()
    table.add_row("whole memory", f"{budget.total_bytes / GIB:.2f}", "")
    return table


def _budget_rows(budget: MemoryBudget) -> Iterator[tuple[str, int, str]]:
    yield "weights", budget.weight_bytes, ""
    if budget.draft_weight_bytes:
        yield "weights of the draft model", budget.draft_weight_bytes, ""
    yield "activations", budget.activation_bytes, ESTIMATE
    yield "CUDA graphs", budget.graph_bytes, ESTIMATE
    yield "runtime", budget.runtime_bytes, ESTIMATE
    tokens = f"{budget.pool.tokens} tokens of {budget.kv_token_bytes / KIB:g} KiB" if budget.kv_bytes > 0 else "none"
    yield "KV pool", budget.kv_bytes, tokens
    yield "left to others", budget.unused_bytes, ""


def plan_table(plan: CapacityPlan) -> Table:
    asked = plan.asked
    table = _table(_trainees(asked.trainees), "", "")
    each = f"{_trainees(plan.trainees_per_replica)} each, limited by {plan.limit}"
    reserve = f", {asked.reserve} of them in reserve" if asked.reserve else ""
    table.add_row("replicas", str(plan.replicas), each + reserve)
    table.add_row("sessions a replica holds", str(plan.window_sessions), f"of {asked.setup.window_tokens} tokens")
    for name, value, remark in _time_rows(plan):
        table.add_row(name, value, remark)
    for name, cost in (("cost, as planned", plan.cost), ("cost, by measured start", plan.measured_cost)):
        if cost is not None:
            table.add_row(name, *_cost(cost, priced=asked.tariff.price_per_hour > 0))
    return table


def lines(found: CapacityPlan | DoesNotFit) -> Iterator[str]:
    yield from (f"- {caution}" for caution in cautions(found))
    if isinstance(found, CapacityPlan):
        yield ""
        yield command_line(found)


def as_json(found: CapacityPlan | DoesNotFit) -> dict[str, object]:
    asked = found.asked
    told: dict[str, object] = {
        "fits": isinstance(found, CapacityPlan),
        "model": asked.setup.model.name,
        "parameters": asked.setup.model.parameters,
        "device": asked.setup.device.name,
        "quantization": asked.setup.quantisation.value,
        "kv_cache_dtype": asked.setup.kv_dtype.value,
        "window_tokens": asked.setup.window_tokens,
        "trainees": asked.trainees,
        "turns": asdict(asked.turns),
        "targets": asdict(asked.targets),
        "memory": asdict(found.budget) | {"kv_pool_tokens": found.budget.pool.tokens},
        "cautions": list(cautions(found)),
    }
    if isinstance(found, DoesNotFit):
        return told | {"missing_bytes": found.missing_bytes}
    return told | {
        "window_sessions": found.window_sessions,
        "average_sessions": found.average_sessions,
        "replicas": found.replicas,
        "trainees_per_replica": found.trainees_per_replica,
        "limited_by": found.limit.value,
        "meets_targets": found.meets_targets,
        "floor_s": found.floor_s,
        "estimates": asdict(found.times),
        "cost": asdict(found.cost),
        "measured_cost": None if found.measured_cost is None else asdict(found.measured_cost),
        "flags": vllm_flags(found),
        "environment": environment(found),
    }


def _time_rows(plan: CapacityPlan) -> Iterator[tuple[str, str, str]]:
    times, targets = plan.times, plan.asked.targets
    limits = f"limit {targets.ttft_p95_s:g} s"
    floor = f"bandwidth floor {plan.floor_s * 1000:.1f} ms, limit {targets.token_s * 1000:g} ms"
    yield "first token, mean", f"{times.ttft_s:.2f} s", ESTIMATE
    yield "first token, 95 %", f"{times.ttft_p95_s:.2f} s", f"{ESTIMATE}, {limits}"
    yield "first token at the bell", f"{times.bell_last_s:.2f} s", f"{ESTIMATE}, the last of all at once"
    yield "time per token", f"{times.token_s * 1000:.1f} ms", f"{ESTIMATE}, {floor}"
    yield "turns in flight a replica", f"{times.in_flight:.1f}", f"{ESTIMATE}, busy {times.busy_share:.0%} of the time"


def _cost(cost: DrillCost, *, priced: bool) -> tuple[str, str]:
    hours = f"{cost.replica_hours:.1f} replica hours, {cost.lead_share:.0%} before the bell"
    return (f"{cost.price:.2f}", f"{cost.price_per_trainee:.3f} a trainee, {hours}") if priced else ("", hours)


def _trainees(count: int) -> str:
    return f"{count} trainee" + ("" if count == 1 else "s")


def _table(*headings: str) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    name, value, remark = headings
    table.add_column(name, no_wrap=True)
    table.add_column(value, justify="right", no_wrap=True)
    table.add_column(remark, overflow="fold")
    return table
