"""Which turns are folded into a note, and when.

Every fold costs the replica's prefix cache of all that stands behind the notes, so folds are rare and deep: the tail
grows to a high mark, and then shrinks to a low one at once. What is folded is always the oldest part, without a gap.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sessions.domain.note import Note

_RECENT_MESSAGES = 10
_LEAST_MESSAGE_SHARE = 16
"""The next message is taken to need at least this part of the room."""

_FEWEST_MERGED = 2
_TURNS_BETWEEN_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Marks:
    """How many turns stand in the prompt word for word."""

    low: int = 20
    """So many stay, unless the window forces more of them out."""
    high: int = 30
    """From so many on the oldest are folded."""


@dataclass(frozen=True, slots=True)
class Fold:
    """The turns `from_turn` to `to_turn`, both included, are to become one note.

    `from_turn` is 1 where notes are there already when these have outgrown their share: the new note replaces them.
    """

    from_turn: int
    to_turn: int


@dataclass(frozen=True, slots=True)
class Merge:
    """The notes of these turns are to be replaced by one that is made from the turns themselves."""

    from_turn: int
    to_turn: int


@dataclass(frozen=True, slots=True)
class TailTurn:
    """A remembered turn's tokens, each with what the template puts around a message."""

    number: int
    message: int
    reply: int
    pinned: int
    """Of the messages before the notes, if this turn is the first that stands word for word."""
    change: int = 0
    """Of the frame that tells of its scene, where the turn before it was played in another one."""


@dataclass(frozen=True, slots=True)
class Tail:
    """The turns behind the notes, and what they, the pinned messages and the next message may take together."""

    first: int
    """The number of the first turn that no note covers, remembered or not."""
    last: int
    """The number of the session's last turn."""
    turns: tuple[TailTurn, ...]
    room: int
    pinned: int
    """Of the messages before the notes when no turn stands word for word."""
    change: int = 0
    """Of the frame that the next message begins with when a turn stands before it."""
    bridge: int = 0
    """Of the reply that stands behind the notes now."""

    def used(self, start: int) -> int:
        """What the turns from `start` on take, with the reply before them when notes stand there."""
        kept = self.turns[start:]
        if not kept:
            return self._bridge(start)
        return self._bridge(start) + sum(_tokens(turn) for turn in kept) - kept[0].change + self.change

    def free(self, start: int) -> int:
        """What turns and message may take together when the turns from `start` on are kept."""
        return self.room - (self.turns[start].pinned if start < len(self.turns) else self.pinned)

    def fits(self, start: int, message: int) -> bool:
        return self.used(start) + message <= self.free(start)

    def lasts(self, left: int) -> bool:
        """Whether so many more turns like these fit behind them, and one more of the longest messages."""
        expected = left * sum(_tokens(turn) for turn in self.turns) // max(1, len(self.turns))
        return self.fits(0, expected + self._longest_message)

    @property
    def likely_message(self) -> int:
        """What the next message may well take: as much as the longest of the last ones."""
        return max(self._longest_message, self.free(0) // _LEAST_MESSAGE_SHARE)

    @property
    def _longest_message(self) -> int:
        return max((turn.message for turn in self.turns[-_RECENT_MESSAGES:]), default=0)

    def _bridge(self, start: int) -> int:
        return self.turns[start - 1].reply if start else self.bridge


def due(tail: Tail, marks: Marks, *, left: int | None = None) -> Fold | None:
    """What is to be folded before the next message comes, while nobody waits.

    `left` turns are all that may still come. Where they are fewer than a fold takes away, and fit as they are, the last
    fold is saved: it would cost the cache more than it gives.
    """
    message = tail.likely_message
    if left is not None and left <= marks.high - marks.low and tail.lasts(left):
        return None
    if len(tail.turns) < marks.high and tail.fits(0, message):
        return None
    low = max(0, len(tail.turns) - marks.low)
    if _is_roomy(tail, low):
        # A shallow fold costs the cache as much as a deep one: better wait until it is worth it.
        worth = len(tail.turns) >= marks.high or low >= (marks.high - marks.low + 1) // 2
        return _fold(tail, low) if worth else None
    return _fold(tail, _deep(tail, message))


def overdue(tail: Tail, marks: Marks, message: int) -> Fold | None:
    """What must be folded now because a message of `message` tokens has no room.

    None also where folding does not help: then the message itself is too long.
    """
    if tail.fits(0, message) or not tail.fits(len(tail.turns), message):
        return None
    low = max(0, len(tail.turns) - marks.low)
    if _is_roomy(tail, low) and tail.fits(low, message):
        return _fold(tail, low)
    return _fold(tail, _deep(tail, message))


def merge_due(notes: Sequence[Note], *, note_tokens: int, share: int) -> Merge | None:
    """Which of the live notes become one, when the next note would outgrow their share; as few as will do."""
    if len(notes) < _FEWEST_MERGED or not outgrown(notes, note_tokens=note_tokens, share=share):
        return None
    merged = _FEWEST_MERGED
    while merged < len(notes) and outgrown(notes[merged:], note_tokens=2 * note_tokens, share=share):
        merged += 1
    return Merge(notes[0].from_turn, notes[merged - 1].to_turn)


def outgrown(notes: Sequence[Note], *, note_tokens: int, share: int) -> bool:
    """Whether these notes and `note_tokens` more take more than their share."""
    return sum(note.tokens for note in notes) + note_tokens > share


def note_limit(notes: Sequence[Note], span: Fold | Merge, *, note_tokens: int, share: int) -> int:
    """The most tokens that the note of these turns may take, where these notes are live.

    One that replaces notes takes what the others leave of the share, with room for one more note: what was kept of the
    first turns has no other place.
    """
    replaced = [note.tokens for note in notes if note.from_turn <= span.to_turn and note.to_turn >= span.from_turn]
    if not replaced:
        return note_tokens
    left = share - note_tokens - (sum(note.tokens for note in notes) - sum(replaced))
    if isinstance(span, Merge):
        left = max(_lasting(left, notes[-1].tokens, note_tokens), min(left, max(replaced)))
    return max(note_tokens, left)


def may_try_again(tail: Iterable[int], *, failed_at: int) -> bool:
    """Whether the tail of the remembered turns with these numbers has grown enough for another attempt at a note, when
    `failed_at` was the last turn at the time of one that failed: a model that writes nothing of use once will mostly do
    so again."""
    return sum(number > failed_at for number in tail) >= _TURNS_BETWEEN_ATTEMPTS


def _lasting(left: int, next_note: int, note_tokens: int) -> int:
    """How much of what is left a merged note takes so that the next note makes no other merge due: each costs a model
    a look at all its turns. Where a note of the usual size does not last so long either, nothing is to be saved."""
    lasting = left - next_note
    return lasting if lasting >= note_tokens else left


def _is_roomy(tail: Tail, start: int) -> bool:
    """Whether the turns from `start` on take two thirds of the room at most."""
    return 3 * tail.used(start) <= 2 * tail.free(start)


def _deep(tail: Tail, message: int) -> int:
    """Where to begin when the window is too small for the low mark: half of the room is free again at once."""
    length = len(tail.turns)
    for start in range(length):
        if 2 * tail.used(start) <= tail.free(start) and tail.fits(start, message):
            return start
    return length - 1 if length and tail.fits(length - 1, message) else length


def _fold(tail: Tail, start: int) -> Fold | None:
    """All turns before the one at `start`; those between that the tutor is not shown go with them."""
    if start == 0:
        return None
    return Fold(tail.first, tail.turns[start].number - 1 if start < len(tail.turns) else tail.last)


def _tokens(turn: TailTurn) -> int:
    return turn.message + turn.reply + turn.change
