"""The released events of one running turn; any number of readers follow it from any place."""

import asyncio
from bisect import bisect_right
from collections.abc import AsyncIterator, Iterator

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


class TurnJournal:
    """Written by the one task that runs the turn. Readers hold no copy: each keeps its place only."""

    def __init__(self, accepted: Accepted) -> None:
        self._accepted = accepted
        self._pieces: list[str] = []
        self._ends: list[int] = []
        self._terminal: Terminal | None = None
        self._changed = asyncio.Event()

    def add(self, text: str) -> None:
        if text:
            self._pieces.append(text)
            self._ends.append(self._length + len(text))
            self._wake()

    def end(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._wake()

    async def follow(self, after: int = 0) -> AsyncIterator[tuple[int, TurnEvent]]:
        """Every event behind a place, as it comes, with its place; ends after the terminal one."""
        place = after
        while True:
            for reached, event in self._behind(place):
                yield reached, event
                place = reached
            if self._terminal is not None and place >= terminal_place(self._length):
                return
            await self._changed.wait()

    def _behind(self, place: int) -> Iterator[tuple[int, TurnEvent]]:
        if place < ACCEPTED_PLACE:
            yield ACCEPTED_PLACE, self._accepted
        had = characters_before(place)
        index = bisect_right(self._ends, had)
        while index < len(self._pieces):
            end, piece = self._ends[index], self._pieces[index]
            yield delta_place(end), Delta(piece[len(piece) - (end - had) :])
            had, index = end, index + 1
        if self._terminal is not None and place < terminal_place(self._length):
            yield terminal_place(self._length), self._terminal

    @property
    def _length(self) -> int:
        return self._ends[-1] if self._ends else 0

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
