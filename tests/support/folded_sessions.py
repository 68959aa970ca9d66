"""Plays a session through the plan of its folds, by token numbers alone."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sessions.domain.compaction import Fold, Marks, Tail, TailTurn, due, overdue

PINNED = 650
ROOM = 4096 - 256 - 32 - 560
"""What pinned messages, tail and message may take in the default window."""
NOTE = 160
FRAME = 60


@dataclass
class FoldedSession:
    """`sizes` are message and reply of each turn; a reply of 0 is none."""

    sizes: Sequence[tuple[int, int]]
    marks: Marks = field(default_factory=Marks)
    room: int = ROOM
    folds: list[tuple[int, Fold]] = field(default_factory=list)
    """Each with the number of turns when it was made."""
    forced: int = 0
    refused: int = 0
    prefilled_again: int = 0
    """Tokens behind the pinned messages that a fold made the replica read again."""

    def tail(self, turns: int) -> Tail:
        first = self.folds[-1][1].to_turn + 1 if self.folds else 1
        shown = [
            TailTurn(number, message, reply, PINNED)
            for number, (message, reply) in enumerate(self.sizes[:turns], start=1)
            if reply and number >= first
        ]
        covered = [reply for message, reply in self.sizes[: first - 1] if reply]
        bridge = covered[-1] if covered else 0
        return Tail(first, turns, tuple(shown), self.room, PINNED, bridge=bridge)

    def play(self) -> "FoldedSession":
        for number, (message, _) in enumerate(self.sizes, start=1):
            self._fold(number - 1, overdue(self.tail(number - 1), self.marks, message), forced=True)
            self.refused += not self.tail(number - 1).fits(0, message)
            if number < len(self.sizes):
                self._fold(number, due(self.tail(number), self.marks), forced=False)
        return self

    def _fold(self, turns: int, fold: Fold | None, *, forced: bool) -> None:
        if fold is not None:
            self.folds.append((turns, fold))
            self.forced += forced
            notes = min(len(self.folds), 3) * NOTE
            self.prefilled_again += self.tail(turns).used(0) + notes + FRAME
