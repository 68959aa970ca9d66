"""Where turns wait when nothing has room: bounded, fair, called one by one as room comes back. Nothing polls.

Each kind of room has its own line: a session that must go to one replica waits for that replica, a new one for any of
its pool. What a caller names as its `room` decides that; who names none waits in one common line.

A call is a chance that must not get lost. Whoever was called and tries in vain stands where it stood before, and the
chance goes on to the next; so it does when the called one leaves without having taken anything, be it cancelled or out
of time. Room that comes back while somebody is trying is offered once more when that one has tried in vain, for it may
have looked too early. A chance that several in a row could not use ends: somebody else took the room meanwhile.
"""

import asyncio
from dataclasses import dataclass
from types import TracebackType
from typing import Final

from router.domain.asks import Ticket
from router.domain.waiting_line import Waiter, WaitingLine
from router.errors import NoRoom
from router.settings import RouterSettings

# A line of a thousand that all look in vain would hold up the loop for milliseconds, for each room that is given back.
_TRIES_PER_CHANCE: Final = 8


@dataclass(slots=True, eq=False)
class _Line:
    room: str
    order: WaitingLine
    was_missed: bool = False
    """Room came back that some could not be told of, since they were trying."""


@dataclass(slots=True, eq=False)
class Chance:
    """Room that came back, on its way through the line."""

    tries: int = 0
    is_second: bool = False
    """Whether the same room has been through the line before; there is no third time."""


class Place:
    """A place in the queue, from `WaitingRoom.join` until its block is left.

    Leaving the block by an exception says that nothing was taken; then the next is called, if this one had been.
    """

    __slots__ = ("_deadline", "_future", "_has_tried", "_refusal", "_room", "_since", "chance", "line", "waiter")

    def __init__(self, *, room: "WaitingRoom", line: _Line, waiter: Waiter, timeout_s: float) -> None:
        self._room = room
        self._since = asyncio.get_running_loop().time()
        self._deadline = self._since + timeout_s
        self._future: asyncio.Future[None] | None = None
        self._refusal: NoRoom | None = None
        self._has_tried = False
        self.line = line
        self.waiter = waiter
        self.chance: Chance | None = None
        """The last one it was given."""

    def __enter__(self) -> "Place":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._refusal is None:
            self._room.leave(self, has_taken=kind is None)

    @property
    def position(self) -> int:
        """Its place in the order in which they would be called if nobody else came, from 1."""
        return self.line.order.position(self.waiter)

    async def called(self) -> None:
        """Return when it is this one's turn to try; calling it again says that the try was in vain.

        Raises `NoRoom` once it has waited for `queue_timeout_s` in all, or when it was crowded out of a full queue.
        """
        if self._has_tried:
            self._has_tried = False
            self._room.tried_in_vain(self)
        if not self.waiter.is_called and self._refusal is None:
            await self._sleep()
        if self._refusal is not None:
            raise self._refusal
        self._has_tried = True

    def wake(self) -> None:
        """For the room: it has been called."""
        if self._future is not None and not self._future.done():
            self._future.set_result(None)

    def refuse(self, refusal: NoRoom) -> None:
        """For the room: it is no longer in the queue."""
        self._refusal = refusal
        self.wake()

    async def _sleep(self) -> None:
        loop = asyncio.get_running_loop()
        self._future = loop.create_future()
        timer = loop.call_at(self._deadline, self._give_up)
        try:
            await self._future
        finally:
            timer.cancel()
            self._future = None

    def _give_up(self) -> None:
        # Called in the very step in which the time ran out, it may still try.
        if not self.waiter.is_called:
            self._room.put_out(self)

    @property
    def waited_s(self) -> float:
        return asyncio.get_running_loop().time() - self._since


class WaitingRoom:
    """Holds at most `queue_length` turns. In a full one whoever floods it gives way to those who do not."""

    def __init__(self, settings: RouterSettings) -> None:
        self._settings = settings
        self._lines: dict[str, _Line] = {}
        self._places: dict[Waiter, Place] = {}

    @property
    def length(self) -> int:
        return len(self._places)

    def waiting_for(self, room: str = "") -> int:
        """How many wait for it; a newcomer that finds room should not pass them by."""
        line = self._lines.get(room)
        return 0 if line is None else len(line.order)

    def join(self, ticket: Ticket, *, room: str = "") -> Place:
        """Stand in the line for that room; raises `NoRoom` when the queue is full.

        Look for room a last time after joining, unless nothing was awaited since the last look.
        """
        line = self._lines.get(room)
        if line is None:
            line = self._lines[room] = _Line(room, WaitingLine())
        waiter = line.order.join(ticket)
        place = Place(room=self, line=line, waiter=waiter, timeout_s=self._settings.queue_timeout_s)
        self._places[place.waiter] = place
        if len(self._places) > self._settings.queue_length:
            self._crowd_out(place)
        return place

    def freed(self, *rooms: str) -> None:
        """There may be room again, for these lines or for all of them: the next of each is called."""
        if not self._lines:
            return
        for room in rooms or tuple(self._lines):
            line = self._lines.get(room)
            if line is not None:
                self._call_next(line, Chance())

    def tried_in_vain(self, place: Place) -> None:
        """For `Place`: its place is kept, and the chance goes on."""
        line = place.line
        line.order.come_back(place.waiter)
        if place.chance is not None and place.chance.tries < _TRIES_PER_CHANCE:
            self._call_next(line, place.chance)
        if line.was_missed:
            line.was_missed = False
            self._call_next(line, Chance(is_second=True))

    def leave(self, place: Place, *, has_taken: bool) -> None:
        """For `Place`: its block was left."""
        line = place.line
        line.order.leave(place.waiter)
        del self._places[place.waiter]
        if place.chance is not None and place.waiter.is_called and not has_taken:
            self._call_next(line, Chance())
        if not line.order and self._lines.get(line.room) is line:
            del self._lines[line.room]

    def put_out(self, place: Place) -> None:
        """For `Place`: its time is over."""
        refusal = self._refusal(place, place.position)
        self.leave(place, has_taken=True)
        place.refuse(refusal)

    def _call_next(self, line: _Line, chance: Chance) -> None:
        """Call the first in order who has not tried this chance."""
        have_tried: list[Waiter] = []
        while (waiter := line.order.call()) is not None and self._places[waiter].chance is chance:
            have_tried.append(waiter)
        for each in have_tried:
            line.order.come_back(each)
        if waiter is not None:
            chance.tries += 1
            place = self._places[waiter]
            place.chance = chance
            place.wake()
        elif not chance.is_second and len(line.order) > line.order.uncalled:
            line.was_missed = True  # those who are trying may have looked before there was room

    def _crowd_out(self, newcomer: Place) -> None:
        longest = max(self._lines.values(), key=lambda line: (line.order.uncalled, line is newcomer.line))
        place = self._places[longest.order.crowded_out(newcomer.waiter)]
        if place is newcomer:
            refusal = self._refusal(place, 0)
            self.leave(place, has_taken=True)
            raise refusal
        self.put_out(place)

    def _refusal(self, place: Place, position: int) -> NoRoom:
        return NoRoom(waited_s=place.waited_s, position=position, retry_after_s=self._settings.retry_after_s)
