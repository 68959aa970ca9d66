"""How many replicas a class needs: sessions that a replica's KV pool holds, and a class small enough for its time
limits.

A session keeps its KV while its trainee thinks, so memory is counted for sessions, not for turns in flight; and every
session may grow to the whole window. So a replica takes at most as many trainees as whole windows fit, and no more than
the time limits bear; the replicas are the class divided by the smaller of the two, rounded up, and the reserve.
"""

from dataclasses import dataclass
from enum import StrEnum

from router.fleet.domain.class_times import ClassTimes, Turns, class_times
from router.fleet.domain.drill_cost import DrillCost, Tariff, drill_cost
from router.fleet.domain.kv_cache import sessions_in
from router.fleet.domain.memory_budget import MemoryBudget, ReplicaSetup, memory_budget
from router.fleet.domain.service_curve import ServiceCurve, service_curve


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    ttft_p95_s: float
    token_s: float

    def met_by(self, times: ClassTimes) -> bool:
        return times.ttft_p95_s <= self.ttft_p95_s and times.token_s <= self.token_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    setup: ReplicaSetup
    turns: Turns
    trainees: int
    targets: Targets
    tariff: Tariff
    reserve: int = 0


class Limit(StrEnum):
    """What keeps more trainees off a replica."""

    CLASS = "the class"
    MEMORY = "memory"
    TIME = "time"


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityPlan:
    asked: Asked
    budget: MemoryBudget
    window_sessions: int
    """Sessions whose whole window is in KV at once."""
    average_sessions: int
    """The same at the average context, which no plan may count on."""
    trainees_per_replica: int
    limit: Limit
    meets_targets: bool
    replicas: int
    """With the reserve."""
    floor_s: float
    times: ClassTimes
    """Of the fullest replica, without the reserve's help."""
    cost: DrillCost
    measured_cost: DrillCost | None


@dataclass(frozen=True, slots=True)
class DoesNotFit:
    """Not even one whole window has room beside the weights."""

    asked: Asked
    budget: MemoryBudget

    @property
    def missing_bytes(self) -> int:
        """How much more KV one window and vLLM's own block need."""
        block = self.budget.pool.block_tokens
        blocks = -(-self.budget.needed_tokens // block) + 1
        return blocks * block * self.budget.kv_token_bytes - self.budget.kv_bytes


def plan_capacity(asked: Asked) -> CapacityPlan | DoesNotFit:
    budget = memory_budget(asked.setup)
    if not budget.fits:
        return DoesNotFit(asked, budget)
    window = _sessions(asked, budget, asked.setup.window_tokens)
    curve = service_curve(asked.setup, context_tokens=asked.turns.context_tokens)
    held = min(asked.trainees, window)
    quick = _quick_enough(asked, curve, most=held)
    # Where not even one trainee is served in time, more replicas do not help, and memory alone counts.
    needed = -(-asked.trainees // (quick or held))
    times = class_times(curve, asked.turns, trainees=-(-asked.trainees // needed))
    replicas = needed + asked.reserve
    return CapacityPlan(
        asked=asked,
        budget=budget,
        window_sessions=window,
        average_sessions=_sessions(asked, budget, asked.turns.context_tokens),
        trainees_per_replica=-(-asked.trainees // needed),
        limit=_limit(asked, held=held, quick=quick),
        meets_targets=asked.targets.met_by(times),
        replicas=replicas,
        floor_s=curve.floor_s,
        times=times,
        cost=_cost(asked, replicas, asked.tariff.lead_s),
        measured_cost=None if (lead := asked.tariff.measured_lead_s) is None else _cost(asked, replicas, lead),
    )


def _sessions(asked: Asked, budget: MemoryBudget, context_tokens: int) -> int:
    return sessions_in(
        budget.pool,
        context_tokens=context_tokens,
        shared_tokens=asked.turns.shared_tokens,
        ahead_tokens=asked.setup.ahead_tokens,
    )


def _quick_enough(asked: Asked, curve: ServiceCurve, *, most: int) -> int:
    """The largest class up to `most` that keeps to the time limits, 0 where not even one trainee does; times only
    grow."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if asked.targets.met_by(class_times(curve, asked.turns, trainees=middle)):
            low = middle
        else:
            high = middle - 1
    return low


def _limit(asked: Asked, *, held: int, quick: int) -> Limit:
    if 0 < quick < held:
        return Limit.TIME
    return Limit.CLASS if held == asked.trainees else Limit.MEMORY


def _cost(asked: Asked, replicas: int, lead_s: float) -> DrillCost:
    return drill_cost(asked.tariff, replicas=replicas, trainees=asked.trainees, lead_s=lead_s)
