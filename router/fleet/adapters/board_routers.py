"""The routers as the controller sees them: by their board and their pins."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from typing import Protocol

from typing_extensions import override

from router.domain.board import Board, Drain
from router.domain.board_limits import DEAD_AFTER_S
from router.domain.drain import DrainProgress, progress
from router.domain.fleet import ReplicaId, ReplicaSpec
from router.errors import BoardUnavailable, PinStoreUnavailable
from router.fleet.errors import RoutersUnavailable
from router.fleet.ports import Routers, RoutersState
from router.ports import FleetBoard, PinStore, PinUse

SETTLED_AFTER_S = 10.0
"""A store that was emptied is filled again by the routers, from what they remember, within this."""


class PinsInUse(PinStore, PinUse, Protocol):
    """Pins that also tell which of them are used."""


class BoardRouters(Routers):
    """`session_idle_s`: who was not heard for so long holds no replica; `drain_within_s`: how long a drain may take.

    A store that was emptied, and one that this process has not watched for `settled_after_s`, knows of no sessions
    though there may be many: what it says does not count yet.
    """

    def __init__(
        self,
        *,
        board: FleetBoard,
        pins: PinsInUse,
        session_idle_s: float,
        drain_within_s: float,
        settled_after_s: float = SETTLED_AFTER_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._board = board
        self._pins = pins
        self._session_idle_s = session_idle_s
        self._drain_within_s = drain_within_s
        self._settled_after_s = settled_after_s
        self._clock = clock
        self._contents: str | None = None
        self._same_since = inf

    @override
    async def state(self, replicas: Sequence[ReplicaId]) -> RoutersState:
        with _in_our_words():
            board = await self._board.read()
        # Pins after the board, see `progress` of router/domain/drain.py.
        pinned = await self._pinned(tuple(board.drains))
        return RoutersState(
            joined={spec.id: spec for spec in board.added if spec.id not in board.removed},
            drains={name: _careful(board, drain, pinned.get(name)) for name, drain in board.drains.items()},
            live_sessions=await self._live(replicas),
        )

    @override
    async def join(self, replica: ReplicaSpec) -> None:
        with _in_our_words():
            await self._board.add(replica)

    @override
    async def drain(self, replica: ReplicaId) -> None:
        """A drain that goes on is left as it is, or its deadline would never come."""
        with _in_our_words():
            if replica not in (await self._board.read()).drains:
                await self._board.drain(replica, within_s=self._drain_within_s)

    @override
    async def keep(self, replica: ReplicaId) -> None:
        with _in_our_words():
            await self._board.drain(replica, within_s=None)

    @override
    async def leave(self, replica: ReplicaId) -> None:
        with _in_our_words():
            await self._board.remove(replica, keeps_out=False)

    async def _pinned(self, replicas: Sequence[ReplicaId]) -> Mapping[ReplicaId, int]:
        """Empty where the pins cannot be read."""
        try:
            loads = await self._pins.loads(replicas) if replicas else {}
        except PinStoreUnavailable:
            return {}
        return {replica: load.sessions for replica, load in loads.items()}

    async def _live(self, replicas: Sequence[ReplicaId]) -> Mapping[ReplicaId, int] | None:
        try:
            found = await self._pins.in_use(replicas, within_s=self._session_idle_s)
        except PinStoreUnavailable:
            self._contents = None
            return None
        now = self._clock()
        if found.contents != self._contents:
            self._contents, self._same_since = found.contents, now
        return found.sessions if now - self._same_since >= self._settled_after_s else None


def _careful(board: Board, drain: Drain, pinned: int | None) -> DrainProgress:
    """A board that was emptied has no routers until they report again: while it is not known of every router that
    lives, none of them has agreed.
    """
    so_far = progress(board, drain, pinned=pinned)
    return replace(so_far, may_stop=so_far.may_stop and board.now - drain.since >= DEAD_AFTER_S)


@contextmanager
def _in_our_words() -> Iterator[None]:
    try:
        yield
    except BoardUnavailable as error:
        raise RoutersUnavailable(f"the board cannot be asked: {error}") from error
    except ValueError as error:  # a name or an address that the board does not take
        raise RoutersUnavailable(str(error)) from error
