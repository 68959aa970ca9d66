"""One reader's view of a turn, wherever it runs or is kept."""

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass

from gateway.domain.journal import TURN_LOST
from gateway.domain.limits import Standing
from sessions.domain.events import TurnEvent, replay, terminal_place
from sessions.domain.turn import Turn

Follow = Callable[[int], AsyncGenerator[tuple[int, TurnEvent], None]]


@dataclass(frozen=True, slots=True)
class TurnReader:
    number: int
    replica: str | None
    pin: str | None
    """How the turn came to its replica; None for a turn that is replayed from the record."""
    follow: Follow
    standing: tuple[Standing, ...] = ()
    """What the turn has left of its account's quotas; nothing for one that did not begin with this request."""

    def events(self, after: int = 0) -> AsyncGenerator[tuple[int, TurnEvent], None]:
        """The events behind a place, each with its place.

        Ends after the terminal event; without one where the turn can be followed no further from here. To be closed.
        """
        return self.follow(after)


def stored(turn: Turn) -> TurnReader:
    """A turn of the record. Whoever has read more than there is has read another attempt at it, which is lost."""

    async def follow(after: int) -> AsyncGenerator[tuple[int, TurnEvent], None]:
        if after > terminal_place(len(turn.reply)):
            yield after + 1, TURN_LOST
        for place, event in replay(turn, after=after):
            yield place, event

    return TurnReader(turn.number, turn.replica, None, follow)


def lost(number: int) -> TurnReader:
    """A turn that was read before and is nowhere any more."""

    async def follow(after: int) -> AsyncGenerator[tuple[int, TurnEvent], None]:
        yield after + 1, TURN_LOST

    return TurnReader(number, None, None, follow)
