"""Orders for the fleet: operators give them and see what becomes of them; each router process obeys and says so."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import structlog
from structlog.typing import FilteringBoundLogger

from router.domain.board import Board, Drain, RouterId
from router.domain.board_limits import DEAD_AFTER_S
from router.domain.drain import DrainProgress, progress
from router.domain.emptied_board import NOTHING, is_emptied, recalled, remembered
from router.domain.fleet import Replica, ReplicaId, ReplicaSpec
from router.domain.pin import PinnedLoad
from router.domain.replica_spec import checked_spec
from router.errors import BoardUnavailable, PinStoreUnavailable, ReplicaInUse, ReplicaInvalid, ReplicaUnknown
from router.ports import FleetBoard, FleetView, PinStore
from router.settings import RouterSettings

_log: FilteringBoundLogger = structlog.get_logger(__name__)


class Orders:
    """Reads the board over and over, has its orders obeyed, and reports that they are.

    `obey` are told each board that was read, the fleet's own state first: a report acknowledges what they have taken
    in. `in_flight` tells this router's turns at each replica, those included that have a place and no answer yet.
    While the board is away the last orders go on. So do, for a while, the replicas of one that was emptied.
    """

    def __init__(
        self,
        *,
        board: FleetBoard,
        router: RouterId,
        obey: Sequence[Callable[[Board], None]],
        in_flight: Callable[[], Mapping[ReplicaId, int]],
        settings: RouterSettings,
    ) -> None:
        self._board = board
        self._router = router
        self._obey = tuple(obey)
        self._in_flight = in_flight
        # Whoever reports more seldom than that is taken for dead.
        self._interval_s = min(settings.board_interval_s, DEAD_AFTER_S / 2)
        self._read_at = time.monotonic()
        self._is_lost = False
        self._has_reported = False
        self._memory = NOTHING
        self._read = Board()
        self.last = Board()
        """As last read, with what is remembered."""
        self.failures = 0

    @property
    def age_s(self) -> float:
        """How old the orders are that are obeyed."""
        return time.monotonic() - self._read_at

    async def run(self) -> None:
        """Never returns."""
        while True:
            await self.take_round()
            await asyncio.sleep(self._interval_s)

    async def take_round(self) -> None:
        """Call it once before the first turn: a router that serves without having reported is missed by nobody."""
        try:
            self._heed(self._remembering(await self._board.read()))
            await self._board.report(self._router, self._draining())
            self._has_reported = True
        except BoardUnavailable as error:
            self._miss(error)
        else:
            if self._is_lost:
                _log.info("orders for the fleet are heard again", failures=self.failures)
            self._is_lost = False

    async def leave(self) -> None:
        """Nobody waits for this router any more; call it once its last turn has ended."""
        with suppress(BoardUnavailable):
            await self._board.report(self._router, None)

    def _remembering(self, board: Board) -> Board:
        before, self._read = self._read, board
        if self._has_reported and is_emptied(board, before, self._router):
            self._memory = remembered(before, now=board.now)
            _log.warning("the board was emptied; replicas go on", replicas=len(self._memory.added))
        board, self._memory = recalled(board, self._memory)
        return board

    def _heed(self, board: Board) -> None:
        self.last = board
        self._read_at = time.monotonic()
        for obey in self._obey:
            obey(board)

    def _draining(self) -> Mapping[ReplicaId, int]:
        in_flight = self._in_flight()
        return {replica: in_flight.get(replica, 0) for replica in self.last.drains}

    def _miss(self, error: BoardUnavailable) -> None:
        self.failures += 1
        if not self._is_lost:
            _log.warning("orders for the fleet cannot be heard; the last ones go on", detail=str(error))
        self._is_lost = True


@dataclass(frozen=True, slots=True)
class ReplicaStatus:
    """A replica as operators see it."""

    replica: Replica
    pinned: PinnedLoad | None
    """Over all routers; None while the pin store is away."""
    in_flight: int
    """This router's turns there."""
    drain: DrainProgress | None


@dataclass(frozen=True, slots=True)
class FleetSources:
    """Where the operators' view comes from."""

    board: FleetBoard
    fleet: FleetView
    pins: PinStore
    in_flight: Callable[[], Mapping[ReplicaId, int]]


class FleetOrders:
    """What operators may do. What needs the board raises `BoardUnavailable` while it is away."""

    def __init__(self, sources: FleetSources, settings: RouterSettings) -> None:
        self._sources = sources
        self._settings = settings

    async def list(self) -> tuple[ReplicaStatus, ...]:
        """All replicas, also while board or pins are away: what they would tell is then left out."""
        board = Board()
        with suppress(BoardUnavailable):
            board = await self._sources.board.read()
        replicas = self._sources.fleet.current().replicas
        loads = await self._loads([replica.id for replica in replicas])
        in_flight = self._sources.in_flight()
        return tuple(_status(replica, board, loads, in_flight.get(replica.id, 0)) for replica in replicas)

    async def get(self, replica: ReplicaId) -> ReplicaStatus:
        found = next((status for status in await self.list() if status.replica.id == replica), None)
        if found is None:
            raise ReplicaUnknown(replica)
        return found

    async def add(self, replica: str, url: str, models: Iterable[str] = ()) -> ReplicaSpec:
        """Have it in the fleet of every router, beside those of the source; raises `ReplicaInvalid`."""
        spec = checked_spec(replica, url, models)
        self._check_name(spec, await self._sources.board.read())
        await self._sources.board.add(spec)
        _log.info("replica added by order", replica=spec.id)
        return spec

    async def drain(self, replica: ReplicaId, *, within_s: float | None = None) -> DrainProgress:
        """Empty it; a second order changes the deadline only."""
        self._known(replica, await self._sources.board.read())
        within_s = self._settings.drain_deadline_s if within_s is None else within_s
        await self._sources.board.drain(replica, within_s=within_s)
        _log.info("replica is to be drained by order", replica=replica, within_s=within_s)
        begun = await self.progress(replica)
        if begun is None:  # undone by somebody else in this very moment
            raise ReplicaUnknown(replica)
        return begun

    async def undo(self, replica: ReplicaId) -> None:
        """End the drain; sessions that have moved stay where they are. Without a drain nothing happens."""
        self._known(replica, await self._sources.board.read())
        await self._sources.board.drain(replica, within_s=None)
        _log.info("drain undone by order", replica=replica)

    async def remove(self, replica: ReplicaId, *, force: bool = False) -> None:
        """Take it out of the fleet of every router, whatever the source says; raises `ReplicaInUse` before its drain is
        through. With force its running turns are left to their fate, and its sessions are placed anew.
        """
        self._known(replica, await self._sources.board.read())
        so_far = await self.progress(replica)
        if not force and (so_far is None or not so_far.may_stop):
            left, in_flight = (None, None) if so_far is None else (so_far.sessions_left, so_far.in_flight)
            raise ReplicaInUse(replica, sessions_left=left, in_flight=in_flight)
        await self._sources.board.remove(replica)
        _log.info("replica removed by order", replica=replica, forced=force)

    async def progress(self, replica: ReplicaId) -> DrainProgress | None:
        """None: it is not being drained."""
        board = await self._sources.board.read()
        self._known(replica, board)
        drain = board.drains.get(replica)
        if drain is None:
            return None
        loads = await self._loads([replica])  # after the board, see `progress` of router/domain/drain.py
        return _progress(board, drain, loads)

    async def wait_drained(
        self, replica: ReplicaId, *, told: Callable[[DrainProgress], None] = lambda _: None
    ) -> DrainProgress | None:
        """Return once it may be stopped; `told` sees each step. None: the drain was undone."""
        while True:
            so_far = await self.progress(replica)
            if so_far is None:
                return None
            told(so_far)
            if so_far.may_stop:
                return so_far
            await asyncio.sleep(self._settings.board_interval_s)

    def _known(self, replica: ReplicaId, board: Board) -> None:
        """An order that was given just now may have reached the board and not yet this router."""
        added = any(spec.id == replica for spec in board.added)
        if replica in board.removed or not (added or self._sources.fleet.current().get(replica)):
            raise ReplicaUnknown(replica)

    def _check_name(self, spec: ReplicaSpec, board: Board) -> None:
        """Where the source names it too the source is right, and the order would change nothing."""
        known = self._sources.fleet.current().get(spec.id)
        if known is None or spec.id in board.removed or any(added.id == spec.id for added in board.added):
            return
        if known.url.rstrip("/") != spec.url:
            raise ReplicaInvalid("the list of replicas has this id with another url; take another id")

    async def _loads(self, replicas: Sequence[ReplicaId]) -> Mapping[ReplicaId, PinnedLoad] | None:
        try:
            return await self._sources.pins.loads(replicas)
        except PinStoreUnavailable:
            return None


def _status(
    replica: Replica, board: Board, loads: Mapping[ReplicaId, PinnedLoad] | None, in_flight: int
) -> ReplicaStatus:
    drain = board.drains.get(replica.id)
    pinned = None if loads is None else loads.get(replica.id, PinnedLoad())
    return ReplicaStatus(replica, pinned, in_flight, None if drain is None else _progress(board, drain, loads))


def _progress(board: Board, drain: Drain, loads: Mapping[ReplicaId, PinnedLoad] | None) -> DrainProgress:
    pinned = None if loads is None else loads.get(drain.replica, PinnedLoad()).sessions
    return progress(board, drain, pinned=pinned)
