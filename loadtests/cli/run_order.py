"""What the options of a run come to, and the run itself: on a stack of its own, or on whatever was named."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from loadtests.conduct.asking import speed_up_of, window_of, with_fleet
from loadtests.conduct.conductor import conduct
from loadtests.conduct.order import DrillFailed, Order, Outcome
from loadtests.conduct.parts import parts_of
from loadtests.conduct.stack import ONE_CALLER_FOR_ALL, ReplicaKind, StackPlan, own_stack, plan_of
from loadtests.domain.ablation import Without, ablated
from loadtests.domain.drill import Drill
from loadtests.domain.targets import DEFAULT, Targets, UnusableTargets, read_targets
from loadtests.run_folder import RUNS, RunFolder
from loadtests.simulator.profile_files import UnusableProfile, load
from loadtests.target import Asked, target


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Before anybody was asked anything."""

    drill: Drill
    asked: Asked
    targets: Targets = DEFAULT
    fleet: StackPlan | None = None
    """Of a stack of its own."""
    speed_up: float | None = None
    window_tokens: int | None = None
    workers: int = 1
    price_per_hour: float | None = None
    runs: Path = RUNS
    """A run makes its folder below it."""

    def without(self, what: Without) -> "Wanted":
        """The same with one thing taken away that makes a class hold."""
        drill = ablated(self.drill, what)
        asked = replace(self.asked, wire=drill.wire, affinity=drill.affinity)
        if what is not Without.PRE_SCALING:
            return replace(self, drill=drill, asked=asked, fleet=self.fleet and _unlimited(self.fleet))
        if self.fleet is None:
            raise DrillFailed("replicas are there before the bell or not by the fleet: give --fleet sim:N")
        return replace(self, drill=drill, asked=asked, fleet=replace(self.fleet, is_prescaled=False))


def _unlimited(fleet: StackPlan) -> StackPlan:
    return replace(fleet, environment={**fleet.environment, **ONE_CALLER_FOR_ALL})


def played(wanted: Wanted, *, say: Callable[[str], None]) -> Outcome:
    """Raises `DrillFailed`, `TargetRefused` and `StackFailed` when it could not be played."""
    parts_of(wanted.drill)  # a drill that makes no sense is refused before a stack is started for it
    if wanted.fleet is None:
        return conduct(order_of(wanted), say=say)
    window = wanted.window_tokens or wanted.drill.window_tokens
    own = replace(wanted.fleet, speed_up=wanted.speed_up or 1.0, window_tokens=window)
    with own_stack(own, say=say) as stack:
        there = replace(wanted, asked=replace(wanted.asked, data=stack.data, base_urls=()), speed_up=own.speed_up)
        return conduct(order_of(there), say=say)


def fleet_asked(words: str, asked: Asked) -> StackPlan:
    """Raises `DrillFailed`, also for a profile that no replica could run with, and `UnknownFleet`."""
    if asked.base_urls:
        raise DrillFailed("--fleet starts a stack of its own, and --base-url names another: give one of them")
    plan = plan_of(words)
    try:
        if plan.kind is ReplicaKind.SIM:
            load(plan.profile)
    except UnusableProfile as error:
        raise DrillFailed(f"{words}: {error}") from None
    return plan


def targets_of(file: Path | None) -> Targets:
    """Raises `DrillFailed` with every complaint."""
    if file is None:
        return DEFAULT
    try:
        return read_targets(read_text(file))
    except UnusableTargets as error:
        raise DrillFailed("\n".join(f"{file}: {each}" for each in error.complaints)) from None


def read_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise DrillFailed(f"{file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise DrillFailed(f"{file} is no text in UTF-8") from None


def order_of(wanted: Wanted) -> Order:
    """How fast the replicas' time passes and how large their window is, they are asked; raises `DrillFailed`."""
    aim = with_fleet(target(wanted.asked))
    passes, window = speed_up_of(aim), window_of(aim)
    if None not in (passes, wanted.speed_up) and passes != wanted.speed_up:
        raise DrillFailed(f"the replicas' time passes {passes:g} times as fast as ours, not {wanted.speed_up:g} times")
    if None not in (window, wanted.window_tokens) and window != wanted.window_tokens:
        raise DrillFailed(f"the replicas' window is {window} tokens, not {wanted.window_tokens}")
    drill = replace(
        wanted.drill,
        speed_up=wanted.speed_up or passes or 1.0,
        window_tokens=wanted.window_tokens or window or wanted.drill.window_tokens,
    )
    began = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    return Order(
        drill=drill,
        target=aim,
        folder=RunFolder(wanted.runs / f"{began}-{drill.shape}-{drill.digest[:6]}"),
        targets=wanted.targets,
        workers=wanted.workers,
        price_per_hour=wanted.price_per_hour,
        facts={"fleet": None if wanted.fleet is None else str(wanted.fleet)},
    )
