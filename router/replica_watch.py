"""Looks after one replica: probes it on an interval, registers it when it is new or back, sends it canaries."""

import asyncio
from asyncio import Task, TaskGroup
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count

import structlog
from structlog.typing import FilteringBoundLogger

from router.domain.engine_metrics import EngineMetrics
from router.domain.fitness import SHUTDOWN_ADVICE
from router.domain.fleet import Health, ReplicaId, ReplicaSpec
from router.domain.health import Observation, proof_of, when_canary_late, when_late
from router.domain.sighting import Late, Look, Sighting
from router.fleet_state import FleetState
from router.ports import Probe
from router.settings import EngineKind, RouterSettings

_log: FilteringBoundLogger = structlog.get_logger(__name__)

# Registration asks half a dozen things; a whole fleet that registers at once must not make its own answers late.
_REGISTRATIONS_AT_ONCE = 16
# Past so many looks a second, probing a large fleet would cost turns their time: then each replica is seen less often.
_LOOKS_PER_S = 50

# However many turns have trouble.
_LOOKS_APART_S = 0.25

_IS_REGISTERED = frozenset({Health.PROVING, Health.READY})


@dataclass(frozen=True, slots=True)
class Ties:
    """What the watches tell the rest of the process, and ask of it."""

    saw_metrics: Callable[[ReplicaId, EngineMetrics], None] = lambda _replica, _metrics: None
    served: Callable[[ReplicaId], int] = lambda _replica: 0
    """A count that grows while the replica serves this router's turns, which excuses a canary that had to wait."""
    tried_out: Callable[[ReplicaId, str], None] = lambda _replica, _outcome: None
    """Told of each canary, whether it passed or failed."""


@dataclass(slots=True)
class Surroundings:
    """What all watches of one process share."""

    state: FleetState
    probe: Probe
    settings: RouterSettings
    ties: Ties = field(default_factory=Ties)
    registrations: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_REGISTRATIONS_AT_ONCE))
    is_resting: bool = False
    has_advised: bool = False

    @property
    def has_canaries(self) -> bool:
        return self.settings.canary_interval_s > 0

    def advise(self) -> None:
        """Say once what no replica can be asked."""
        if not self.has_advised and self.settings.engine is EngineKind.VLLM:
            _log.info("check your replicas", advice=SHUTDOWN_ADVICE)
        self.has_advised = True

    @property
    def interval_s(self) -> float:
        return max(self.settings.probe_interval_s, self.state.size / _LOOKS_PER_S)


class ReplicaWatch:
    def __init__(self, spec: ReplicaSpec, around: Surroundings) -> None:
        self._spec = spec
        self._around = around
        self._late = 0
        self._tokens: int | None = None
        self._canary: Task[None] | None = None
        self._next_canary = 0.0

    async def first_look(self) -> None:
        """Return once it is known what the replica is, its canary included."""
        await self._round()
        if self._may_try_out():
            await self._try_out()

    async def run(self) -> None:
        async with TaskGroup() as group:
            while True:
                await self._round()
                if self._may_try_out():
                    self._canary = group.create_task(self._try_out())
                await self._rest()

    async def _rest(self) -> None:
        """Until the next look is due, or a turn has had trouble that a look would explain."""
        if self._late == 1 and self._health is Health.READY:
            # A late answer that was forgiven is asked for again at once: a frozen replica is found sooner.
            await asyncio.sleep(0)
            return
        interval_s = self._around.interval_s
        await asyncio.sleep(min(interval_s, _LOOKS_APART_S))
        if interval_s > _LOOKS_APART_S:
            with suppress(TimeoutError):
                async with asyncio.timeout(interval_s - _LOOKS_APART_S):
                    await self._around.state.trouble(self._spec.id)

    @property
    def _health(self) -> Health | None:
        replica = self._around.state.get(self._spec.id)
        return None if replica is None else replica.health

    async def _round(self) -> None:
        health = self._health
        if health is None:
            return
        seen = await self._look(health)
        if seen.observation is Observation.PROBE_PASSED and not self._late and self._health not in _IS_REGISTERED:
            await self._register()

    async def _look(self, health: Health) -> Sighting:
        seen = self._judged(await self._around.probe.look(self._spec), health)
        if seen.observation is not Observation.PROBE_PASSED:
            self._note(EngineMetrics())
        elif seen.metrics is not None:
            self._note(seen.metrics)
        self._around.state.observe(self._spec, seen)
        return seen

    def _judged(self, look: Look, health: Health) -> Sighting:
        if isinstance(look, Sighting):
            self._late = 0
            return look
        self._late += 1
        return Sighting(when_late(health, in_a_row=self._late), look.detail)

    def _note(self, metrics: EngineMetrics) -> None:
        self._tokens = metrics.tokens_total
        self._around.ties.saw_metrics(self._spec.id, metrics)

    async def _register(self) -> None:
        async with self._around.registrations:
            look = await self._around.probe.register(self._spec)
        seen = Sighting(Observation.PROBE_FAILED, look.detail) if isinstance(look, Late) else look
        # A canary from before would prove what the replica was, not what it is.
        if self._canary is not None:
            self._canary.cancel()
            self._canary = None
        if seen.observation is Observation.ACCEPTED:
            self._around.advise()
        for observation in proof_of(seen.observation, has_canaries=self._around.has_canaries):
            self._around.state.observe(self._spec, replace(seen, observation=observation))

    def _may_try_out(self) -> bool:
        if self._around.is_resting or not self._around.has_canaries:
            return False
        if self._canary is not None and not self._canary.done():
            return False
        health = self._health
        is_due = asyncio.get_running_loop().time() >= self._next_canary
        return health is Health.PROVING or (health is Health.READY and is_due)

    async def _try_out(self) -> None:
        """Canaries until one says something."""
        for tries in count(1):
            seen = await self._one_canary(tries)
            self._around.state.observe(self._spec, seen)
            if seen.observation is not Observation.PROBE_PASSED:
                outcome = "passed" if seen.observation is Observation.CANARY_PASSED else "failed"
                self._around.ties.tried_out(self._spec.id, outcome)
                break
        self._next_canary = asyncio.get_running_loop().time() + self._around.settings.canary_interval_s

    async def _one_canary(self, tries: int) -> Sighting:
        """Its signs of work are fresh when it begins, since it follows a look, and are looked for again when late."""
        began, signs = asyncio.get_running_loop().time(), self._signs_of_work()
        replica = self._around.state.get(self._spec.id)
        if replica is None or not replica.models:
            return Sighting(Observation.CANARY_FAILED, "lists no model")
        look = await self._around.probe.try_out(self._spec, replica.models)
        if isinstance(look, Sighting):
            return look
        # A full replica says so at once; whether it works shows only after a while.
        await asyncio.sleep(began + self._around.settings.canary_timeout_s - asyncio.get_running_loop().time())
        await self._look_for_signs()
        has_moved = self._signs_of_work() != signs
        seen = when_canary_late(self._health or Health.DOWN, in_a_row=tries, has_moved=has_moved)
        return Sighting(seen, look.detail)

    async def _look_for_signs(self) -> None:
        look = await self._around.probe.look(self._spec)
        if isinstance(look, Sighting) and look.metrics is not None:
            self._note(look.metrics)

    def _signs_of_work(self) -> tuple[int | None, int]:
        return self._tokens, self._around.ties.served(self._spec.id)
