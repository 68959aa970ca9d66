"""Notes in Postgres: one row each, in the tenant of their session."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, insert, select, update
from typing_extensions import override

from sessions.adapters.postgres.tables import notes, sessions
from sessions.adapters.postgres.transaction import Transaction
from sessions.domain.note import Note, NoteMaker
from sessions.domain.session import SessionId, State
from sessions.errors import SessionMoved
from sessions.ports import Notes


class PostgresNotes(Notes):
    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    @override
    async def add(self, note: Note) -> None:
        # The session's row is the guard: of two notes with one number only the first finds the count it expects.
        counted = await self._transaction.one(
            update(sessions)
            .where(
                sessions.c.id == note.session,
                sessions.c.note_count == note.seq - 1,
                sessions.c.state == State.OPEN,
            )
            .values(note_count=note.seq)
            .returning(sessions.c.tenant_id)
        )
        if counted is None:
            raise SessionMoved(f"the session {note.session} takes no note {note.seq}")
        await self._transaction.changed(insert(notes).values(tenant_id=counted.tenant_id, **_values(note)))

    @override
    async def all(self, session: SessionId) -> Sequence[Note]:
        rows = await self._transaction.all(select(notes).where(notes.c.session_id == session).order_by(notes.c.seq))
        return [_note(row) for row in rows]


def _values(note: Note) -> dict[str, object]:
    return {
        "session_id": note.session,
        "seq": note.seq,
        "from_turn": note.from_turn,
        "to_turn": note.to_turn,
        "text": note.text,
        "tokens": note.tokens,
        "made_by": note.made_by,
        "session_version": note.session_version,
        "created_at": note.created_at,
    }


def _note(row: Row[Any]) -> Note:
    return Note(
        session=row.session_id,
        seq=row.seq,
        from_turn=row.from_turn,
        to_turn=row.to_turn,
        text=row.text,
        tokens=row.tokens,
        made_by=NoteMaker(row.made_by),
        session_version=row.session_version,
        created_at=row.created_at,
    )
