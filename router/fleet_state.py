"""The fleet as this process sees it: who is in it, and what has been seen of each."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import structlog
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from router.domain.board import Board
from router.domain.engine_metrics import EngineMetrics
from router.domain.fleet import Fleet, Health, Replica, ReplicaId, ReplicaSpec
from router.domain.health import Observation, after
from router.domain.membership import members
from router.domain.sighting import Sighting
from router.ports import FleetView

_log: FilteringBoundLogger = structlog.get_logger(__name__)

_NAMED_IN_LOG = 10


@dataclass(slots=True)
class _Known:
    """What is known of one member."""

    spec: ReplicaSpec
    replica: Replica
    told: Health = Health.UNKNOWN
    """The health that was logged last. PROVING passes, and is not."""
    registered: tuple[str, ...] = ()
    proven: tuple[str, ...] = ()
    """Warnings of its registration, and of its canary."""
    canary_ms: float | None = None
    has_trouble: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def warnings(self) -> tuple[str, ...]:
        return (*self.registered, *self.proven)


class FleetState(FleetView):
    """Whoever reads the source, the board or a replica tells it. The `Fleet` it shows is made anew only at a change."""

    def __init__(self) -> None:
        self._listed: tuple[ReplicaSpec, ...] = ()
        self._board = Board()
        self._known: dict[ReplicaId, _Known] = {}
        self._fleet: Fleet | None = None
        self._membership_changed = asyncio.Event()

    @override
    def current(self) -> Fleet:
        if self._fleet is None:
            self._fleet = Fleet(tuple(known.replica for known in self._known.values()))
        return self._fleet

    @override
    def saw_failure(self, replica: ReplicaId, detail: str) -> None:
        if (known := self._known.get(replica)) is not None:
            self.observe(known.spec, Sighting(Observation.TURN_LOST, detail))

    @override
    def saw_late_connect(self, replica: ReplicaId, detail: str) -> None:
        if (known := self._known.get(replica)) is not None:
            self.observe(known.spec, Sighting(Observation.CONNECT_LATE, detail))
            known.has_trouble.set()

    async def trouble(self, replica: ReplicaId) -> None:
        """Return once a turn has had trouble there that a look would explain, since the last call. For one waiter."""
        if (known := self._known.get(replica)) is not None:
            await known.has_trouble.wait()
            known.has_trouble.clear()

    def get(self, replica: ReplicaId) -> Replica | None:
        known = self._known.get(replica)
        return None if known is None else known.replica

    @property
    def size(self) -> int:
        return len(self._known)

    @property
    def members(self) -> tuple[ReplicaSpec, ...]:
        return tuple(known.spec for known in self._known.values())

    @property
    def canary_ms(self) -> Mapping[ReplicaId, float]:
        """How long the last canary of each replica took; a replica without one is left out."""
        return {name: known.canary_ms for name, known in self._known.items() if known.canary_ms is not None}

    def set_replicas(self, specs: Sequence[ReplicaSpec]) -> None:
        """These are the source's replicas now."""
        self._listed = tuple(specs)
        self._settle()

    def apply(self, board: Board) -> None:
        """These are the operators' orders now."""
        before, self._board = self._board, board
        if _orders(before) != _orders(board):
            self._settle()

    async def membership_changed(self) -> None:
        """Return once members have come or gone since the last call. For one waiter."""
        await self._membership_changed.wait()
        self._membership_changed.clear()

    def observe(self, spec: ReplicaSpec, seen: Sighting) -> None:
        """Take what was seen at `spec`; what has left meanwhile, or moved to another address, is not judged by it."""
        known = self._known.get(spec.id)
        if known is None or known.spec.url != spec.url:
            return
        _take_findings(known, seen)
        health = after(known.replica.health, seen.observation)
        is_new_life = health is Health.READY and not known.replica.is_ready
        replica = replace(
            known.replica,
            health=health,
            lives=known.replica.lives + is_new_life,
            reason=_reason(known.replica, seen),
            models=seen.models or known.replica.models,
            warnings=known.warnings,
            kv_capacity_tokens=_capacity(known.replica, seen.metrics),
            window_tokens=seen.window_tokens if seen.models else known.replica.window_tokens,
        )
        self._show(known, replica)

    def _show(self, known: _Known, replica: Replica) -> None:
        before, known.replica = known.replica, replica
        if replica == before:
            return
        self._fleet = None
        # Logged at a change only: a probe that fails every two seconds must not fill the log.
        if replica.health not in (known.told, Health.PROVING):
            log = _log.info if replica.is_ready else _log.warning
            log(
                "replica health changed",
                replica=replica.id,
                before=known.told,
                now=replica.health,
                reason=replica.reason,
            )
            known.told = replica.health
        for warning in replica.warnings:
            if warning not in before.warnings:
                _log.warning("replica works worse than it could", replica=replica.id, warning=warning)

    def _settle(self) -> None:
        """Bring the members in line with source and board; who stays keeps what is known of it."""
        before, self._known = self._known, {}
        shown = [known.replica for known in before.values()]
        for spec in members(self._listed, self._board):
            known = before.get(spec.id)
            stays = known is not None and (known.spec.url, known.spec.models) == (spec.url, spec.models)
            self._known[spec.id] = _kept(known, spec) if known is not None and stays else _new(spec)
        if shown != [known.replica for known in self._known.values()]:
            self._fleet = None
        came = [name for name, known in self._known.items() if known is not before.get(name)]
        left = [name for name in before if name not in self._known]
        if came or left:
            self._membership_changed.set()
            _log.info("fleet changed", came=came[:_NAMED_IN_LOG], left=left[:_NAMED_IN_LOG], replicas=len(self._known))


def _orders(board: Board) -> tuple[object, ...]:
    return board.added, board.removed, frozenset(board.drains)


def _new(spec: ReplicaSpec) -> _Known:
    return _Known(spec, Replica(spec.id, spec.url, models=spec.models, is_draining=spec.is_closed))


def _kept(known: _Known, spec: ReplicaSpec) -> _Known:
    known.spec = spec
    if known.replica.is_draining is not spec.is_closed:
        known.replica = replace(known.replica, is_draining=spec.is_closed)
    return known


def _take_findings(known: _Known, seen: Sighting) -> None:
    if seen.observation is Observation.ACCEPTED:
        known.registered = seen.warnings
    # A canary that was forgiven has found nothing.
    if seen.observation is Observation.CANARY_PASSED and seen.took_ms is not None:
        known.canary_ms = seen.took_ms
        known.proven = seen.warnings


def _reason(replica: Replica, seen: Sighting) -> str:
    """Why it does not serve; kept over what says nothing new, and while it has yet to prove itself."""
    match seen.observation:
        case Observation.PROBE_PASSED | Observation.ACCEPTED | Observation.CONNECT_LATE:
            return replica.reason
        case Observation.CANARY_PASSED:
            return "" if after(replica.health, seen.observation) is Health.READY else replica.reason
        case _:
            return seen.detail


def _capacity(replica: Replica, metrics: EngineMetrics | None) -> int | None:
    told = None if metrics is None else metrics.kv_capacity_tokens
    return replica.kv_capacity_tokens if told is None else told
