"""A note: what the tutor remembers of turns that no longer stand in its prompt word for word.

Notes are never changed. Each is numbered within its session, and a later one replaces those whose turns it covers, so
the notes that count follow from the list alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sessions.domain.session import SessionId


class NoteMaker(StrEnum):
    TUTOR = "tutor"
    EXTRACT = "extract"
    """Sentences of the turns themselves, where the tutor's note failed or came too late."""


@dataclass(frozen=True, slots=True)
class Note:
    """What is kept of the turns `from_turn` to `to_turn`, both included."""

    session: SessionId
    seq: int
    """1 for the session's first note; no two have the same."""
    from_turn: int
    to_turn: int
    text: str
    tokens: int
    """Of `text`, by the served model's tokenizer."""
    made_by: NoteMaker
    session_version: int
    """What the session was when its turns were read."""
    created_at: datetime


def live_notes(notes: Iterable[Note]) -> tuple[Note, ...]:
    """The notes that stand in the prompt, by their turns: together they cover turns 1 to the last one's `to_turn`."""
    live: list[Note] = []
    for note in sorted(notes, key=lambda each: each.seq):
        covered = (note.from_turn, note.to_turn)
        live = [each for each in live if each.to_turn < covered[0] or each.from_turn > covered[1]]
        live.append(note)
    return tuple(sorted(live, key=lambda each: each.from_turn))


def folded_to(live: tuple[Note, ...]) -> int:
    """The number of the last turn that the notes cover; 0 without any."""
    return live[-1].to_turn if live else 0
