"""The released events of one turn; any number of readers follow it from any place."""

import asyncio
from bisect import bisect_right
from collections.abc import AsyncGenerator, Callable, Iterator

from gateway.domain.journal import TURN_LOST
from sessions.domain.events import (
    ACCEPTED_PLACE,
    Accepted,
    Delta,
    Terminal,
    TurnEvent,
    characters_before,
    delta_place,
    terminal_place,
)


def _nobody() -> None:
    pass


class TurnJournal:
    """Written by one task: the one that runs the turn, or the one that hears of it from another process.

    Readers hold no copy: each keeps its place only. `changed` is told of each addition and must not wait.
    """

    def __init__(self, accepted: Accepted) -> None:
        self._accepted = accepted
        self._pieces: list[str] = []
        self._ends: list[int] = []
        self._is_cut = False
        self._stirred = asyncio.Event()
        self.terminal: Terminal | None = None
        self.readers = 0
        """How many follow now."""
        self.may_lag = False
        """Whether somebody may have read what is not here yet."""
        self.changed: Callable[[], None] = _nobody

    @property
    def length(self) -> int:
        """Characters that were released."""
        return self._ends[-1] if self._ends else 0

    @property
    def is_over(self) -> bool:
        return self._is_cut or self.terminal is not None

    def add(self, text: str) -> None:
        if text:
            self._pieces.append(text)
            self._ends.append(self.length + len(text))
            self._stir()

    def add_until(self, end: int, text: str) -> bool:
        """Add what is new of a text that ends with the `end`-th character; False where what comes before is missing."""
        begin = end - len(text)
        if begin > self.length:
            return False
        self.add(text[max(0, self.length - begin) :])
        return True

    def end(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self._stir()

    def cut(self) -> None:
        """Let the readers go without an end: how the turn goes on cannot be told here."""
        self._is_cut = True
        self._stir()

    def text(self, had: int = 0) -> str:
        """What was released behind the `had`-th character."""
        return "".join(event.text for _, event in self._deltas(had))

    async def follow(self, after: int = 0) -> AsyncGenerator[tuple[int, TurnEvent], None]:
        """Every event behind a place, as it comes, with its place; ends after the terminal one, or when it is cut.

        Whoever has read more than there is has read another attempt at the turn, which is lost.
        """
        place = after
        self.readers += 1
        try:
            while True:
                for reached, event in self._behind(place):
                    yield reached, event
                    place = reached
                    if event is self.terminal:
                        return
                if self._is_beyond(place):
                    yield place + 1, TURN_LOST
                    return
                if self._is_cut or (self.terminal is not None and place >= terminal_place(self.length)):
                    return
                await self._stirred.wait()
        finally:
            self.readers -= 1

    def _is_beyond(self, place: int) -> bool:
        if self.terminal == TURN_LOST:
            return place >= terminal_place(self.length)
        if self.terminal is not None:
            return place > terminal_place(self.length)
        return not self.may_lag and characters_before(place) > self.length

    def _behind(self, place: int) -> Iterator[tuple[int, TurnEvent]]:
        if place < ACCEPTED_PLACE:
            yield ACCEPTED_PLACE, self._accepted
        yield from self._deltas(characters_before(place))
        if self.terminal is not None and place < terminal_place(self.length):
            yield terminal_place(self.length), self.terminal

    def _deltas(self, had: int) -> Iterator[tuple[int, Delta]]:
        index = bisect_right(self._ends, had)
        while index < len(self._pieces):
            end, piece = self._ends[index], self._pieces[index]
            yield delta_place(end), Delta(piece[len(piece) - (end - had) :])
            had, index = end, index + 1

    def _stir(self) -> None:
        stirred, self._stirred = self._stirred, asyncio.Event()
        stirred.set()
        self.changed()
