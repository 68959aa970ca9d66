"""Writes notes, each against the number of notes that its maker knew of."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from sessions.domain.note import Note, NoteMaker
from sessions.domain.session import Session
from sessions.errors import SessionMoved
from sessions.ports import Clock, Fact, OutboxEntry, Records


class CompactionOutcome(StrEnum):
    """What became of an attempt to make a note."""

    FOLDED = "folded"
    """The tutor has written it."""
    MERGED = "merged"
    """The tutor has written one in place of several."""
    EXTRACTED = "extracted"
    """A message would have had no room, so sentences of the turns took the place of the tutor's note."""
    UNANSWERED = "unanswered"
    LATE = "late"
    UNUSABLE = "unusable"
    """Nothing was left of what the tutor wrote."""
    OVERTAKEN = "overtaken"
    """Another note came first, or the session was closed."""
    FAILED = "failed"
    """The records could not be asked."""


@dataclass(frozen=True, slots=True)
class NoteDraft:
    """A note that is still to find its place."""

    from_turn: int
    to_turn: int
    text: str
    tokens: int
    made_by: NoteMaker
    outcome: CompactionOutcome
    """What it is, once it is written."""


class NoteBook:
    """`told` hears what became of each attempt."""

    def __init__(self, *, records: Records, clock: Clock, told: Callable[[CompactionOutcome], None]) -> None:
        self._records = records
        self._clock = clock
        self.tell = told

    def note(self, session: Session, draft: NoteDraft) -> Note:
        """What the draft is as the session's next note."""
        return Note(
            session=session.id,
            seq=session.note_count + 1,
            from_turn=draft.from_turn,
            to_turn=draft.to_turn,
            text=draft.text,
            tokens=draft.tokens,
            made_by=draft.made_by,
            session_version=session.version,
            created_at=self._clock.now(),
        )

    async def add(self, session: Session, draft: NoteDraft) -> Note:
        """Raises `SessionMoved` when another note came first or the session is closed.

        Turns that were written since the draft's were read do no harm: a turn is never changed.
        """
        note = self.note(session, draft)
        try:
            async with self._records.begin(session.tenant) as work:
                await work.notes.add(note)
                await work.outbox.add(_entry(session, note))
        except SessionMoved:
            self.tell(CompactionOutcome.OVERTAKEN)
            raise
        self.tell(draft.outcome)
        return note


def _entry(session: Session, note: Note) -> OutboxEntry:
    facts: dict[str, Fact] = {
        "note": note.seq,
        "from_turn": note.from_turn,
        "to_turn": note.to_turn,
        "made_by": note.made_by,
    }
    return OutboxEntry(session.tenant, "session.note", str(session.id), facts, note.created_at)
