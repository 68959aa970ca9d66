"""Moves the sessions of draining replicas: between two turns, warm where there is time, at once where there is none."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from router.domain.board import Board, Drain, RouterId
from router.domain.drain import Stage, moves_it, stage
from router.domain.exchange import Call
from router.domain.fleet import AffinityKey, Replica, ReplicaId
from router.domain.pin import Demand, Pin, PinnedLoad
from router.domain.pin_key import model_of
from router.domain.placement import choose
from router.domain.rendezvous import start_of
from router.errors import PinStoreUnavailable
from router.inflight import InFlight
from router.ports import FleetView, PinStore
from router.prewarming import Prewarming
from router.recent_prompts import RecentPrompts
from router.tally import PrewarmOutcome

# Sessions that wait for their prewarm at a time. Each target computes few at once, so more would only wait in its line.
_WARMING: Final = 32
# Pins read at a time. When there is nothing to do for this router in a full list, a longer one is read.
_FIRST_LIST: Final = 256
_LONGEST_LIST: Final = 65_536
# Of those that other routers move, so many are planned for: each costs some ten microseconds in a large fleet.
_MOST_PLANNED: Final = 512
_NOTHING: Final = PinnedLoad()


class Moved(StrEnum):
    """How a session left a draining replica."""

    WARM = "warm"
    COLD = "cold"


@dataclass(frozen=True, slots=True)
class MoverParts:
    """What the mover works with."""

    pins: PinStore
    fleet: FleetView
    prewarming: Prewarming
    prompts: RecentPrompts
    in_flight: InFlight


@dataclass(frozen=True, slots=True)
class _Session:
    key: AffinityKey
    pin: Pin
    demand: Demand

    @property
    def model(self) -> str:
        return model_of(self.key)


class Mover:
    """`saw` tells it each board that is read; it does nothing unless `run` runs."""

    def __init__(self, parts: MoverParts, *, router: RouterId) -> None:
        self._parts = parts
        self._router = router
        self._board = Board()
        self._has_news = asyncio.Event()
        self._warming: set[AffinityKey] = set()
        self._list_lengths: dict[ReplicaId, int] = {}
        self._ours: dict[AffinityKey, ReplicaId] = {}
        """Sessions that this router serves too, at the draining replicas where they were last seen."""
        self._left: set[AffinityKey] = set()
        """Those of them that are there no longer."""
        self._moved: Counter[Moved] = Counter()

    @property
    def moved(self) -> Mapping[Moved, int]:
        """Sessions that this router has moved; only grows."""
        return self._moved

    def saw(self, board: Board) -> None:
        before, self._board = self._board, board
        self._list_lengths = {replica: n for replica, n in self._list_lengths.items() if replica in board.drains}
        for replica in board.drains.keys() - before.drains.keys():
            # By the time it reads who is pinned there another router may have moved some of them.
            self._ours.update(dict.fromkeys(self._parts.prompts.last_at(replica), replica))
        self._left.update(key for key, replica in self._ours.items() if replica not in board.drains)
        if board.drains or self._left:
            self._has_news.set()

    async def run(self) -> None:
        """Never returns. What cannot be done while the pin store is away is tried again with the next board."""
        async with asyncio.TaskGroup() as group:
            while True:
                await self._has_news.wait()
                self._has_news.clear()
                with suppress(PinStoreUnavailable):
                    await self._take_round(tuple(self._board.drains.values()), group)
                with suppress(PinStoreUnavailable):
                    await self._follow()

    async def _take_round(self, drains: Sequence[Drain], group: asyncio.TaskGroup) -> None:
        """All routers plan for every session alike, and each moves its own: or they would all take the same room."""
        moved_before = self._moved.total()
        loads: dict[ReplicaId, PinnedLoad] = {}
        for drain in drains:
            at = stage(drain, now=self._board.now)
            if at is Stage.OVERDUE:
                for turn in self._parts.in_flight.turns_at(drain.replica):
                    turn.hand_over()
            listed, due = await self._found(drain.replica, at)
            if not due:
                continue
            loads = loads or dict(
                await self._parts.pins.loads([each.id for each in self._parts.fleet.current().replicas])
            )
            for session, target in self._planned(drain.replica, listed, due, loads):
                await self._send_off(session, target, at, group)
        if self._moved.total() > moved_before:
            self._has_news.set()  # there may be more than the list held

    async def _found(self, replica: ReplicaId, at: Stage) -> tuple[Sequence[tuple[AffinityKey, Pin]], Set[AffinityKey]]:
        """Sessions that are there, and which of them this router shall move now."""
        limit = self._list_lengths.get(replica, _FIRST_LIST)
        listed = await self._parts.pins.pinned(replica, limit=limit)
        self._mark(replica, {key for key, _ in listed}, is_whole=len(listed) < limit)
        routers = tuple(sorted({*self._board.routers, self._router}))
        due = {key for key, _ in listed if self._is_due(key, at, routers)}
        if len(listed) == limit and not due and limit < _LONGEST_LIST:
            self._list_lengths[replica] = 2 * limit
            self._has_news.set()
        return listed, due

    def _planned(
        self,
        away_from: ReplicaId,
        listed: Sequence[tuple[AffinityKey, Pin]],
        due: Set[AffinityKey],
        loads: dict[ReplicaId, PinnedLoad],
    ) -> Iterator[tuple[_Session, Replica]]:
        """Where those that are due go; `loads` come to hold what is planned for everybody."""
        mean = _mean_demand(loads.get(away_from, _NOTHING))
        for place, (key, pin) in enumerate(listed):
            if key not in due and place >= _MOST_PLANNED:
                continue
            session = _Session(key, pin, self._parts.prompts.demand(key) or mean)
            target = self._target(session, away_from, loads)
            if target is not None:
                loads[target.id] = _with(loads.get(target.id, _NOTHING), session.demand)
                if key in due:
                    yield session, target

    def _is_due(self, key: AffinityKey, at: Stage, routers: tuple[RouterId, ...]) -> bool:
        # A turn in flight goes on where its cache is; its session moves after it.
        if self._parts.in_flight.is_running(key) or (key in self._warming and at is not Stage.OVERDUE):
            return False
        is_remembered = self._parts.prompts.get(key) is not None
        return moves_it(key, at=at, is_remembered=is_remembered, router=self._router, routers=routers)

    def _mark(self, replica: ReplicaId, here: Set[AffinityKey], *, is_whole: bool) -> None:
        for key in here:
            if self._parts.in_flight.is_running(key) or self._parts.prompts.get(key) is not None:
                self._ours[key] = replica
        if is_whole:
            self._left.update(key for key, at in self._ours.items() if at == replica and key not in here)

    async def _follow(self) -> None:
        """Prewarm what another router has moved, with the prompt that this one knows, which may be a later one.

        Where it is an earlier one, all of it is in the cache there already, and asking for it costs next to nothing.
        """
        for key in tuple(self._left):
            if self._parts.in_flight.is_running(key):
                continue
            pin = await self._parts.pins.get(key)
            self._left.discard(key)
            before = self._ours.pop(key, None)
            call = self._parts.prompts.get(key)
            now_at = None if pin is None or pin.replica == before else self._parts.fleet.current().get(pin.replica)
            if call is not None and now_at is not None and not self._parts.in_flight.is_running(key):
                self._parts.prewarming.start(key, now_at, call)

    def _target(self, session: _Session, away_from: ReplicaId, loads: Mapping[ReplicaId, PinnedLoad]) -> Replica | None:
        fleet = self._parts.fleet.current()
        candidates = tuple(replica for replica in fleet.open_to(session.model) if replica != away_from)
        if not candidates:
            return None
        start = start_of(session.key)
        return fleet.get(choose(candidates, loads, demand=session.demand, holders=(), bound=1.0, start=start))

    async def _send_off(self, session: _Session, target: Replica, at: Stage, group: asyncio.TaskGroup) -> None:
        call = self._parts.prompts.get(session.key)
        if at is Stage.OVERDUE or call is None or not self._parts.prewarming.is_on:
            await self._move(session, target, Moved.COLD)
        elif len(self._warming) < _WARMING:
            self._warming.add(session.key)
            group.create_task(self._move_warm(session, target, call, at))

    async def _move_warm(self, session: _Session, target: Replica, call: Call, at: Stage) -> None:
        try:
            outcome = await self._parts.prewarming.warmed(session.key, target, call)
            if outcome is PrewarmOutcome.DONE:
                await self._move(session, target, Moved.WARM)
            elif outcome is not PrewarmOutcome.DROPPED and at is not Stage.COURTEOUS:
                await self._move(session, target, Moved.COLD)
        except PinStoreUnavailable:
            return
        finally:
            self._warming.discard(session.key)

    async def _move(self, session: _Session, target: Replica, how: Moved) -> None:
        """Unless the drain was undone, a turn has begun, or the session has moved or ended: then it is left alone."""
        key, pin = session.key, session.pin
        if pin.replica not in self._board.drains or self._parts.in_flight.is_running(key):
            return
        if await self._parts.pins.get(key) != pin or target.id not in self._parts.fleet.current().open_to(
            session.model
        ):
            return
        moved = await self._parts.pins.claim(key, [target.id], replacing=pin, demand=session.demand, prefer=target.id)
        if moved.is_won:
            self._moved[how] += 1
            self._ours.pop(key, None)
            self._left.discard(key)


def _mean_demand(load: PinnedLoad) -> Demand:
    """What a session there holds as far as anybody knows, for one whose own demand was told to another router."""
    return Demand(max(1, load.kv_tokens // max(1, load.sessions)))


def _with(load: PinnedLoad, demand: Demand) -> PinnedLoad:
    return PinnedLoad(load.sessions + 1, load.kv_tokens + demand.kv_tokens)
