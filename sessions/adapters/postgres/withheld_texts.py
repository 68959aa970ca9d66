"""Withheld messages in Postgres: a row beside that of their turn, in the tenant of the session."""

from sqlalchemy import bindparam, select
from sqlalchemy.dialects.postgresql import insert
from typing_extensions import override

from sessions.adapters.postgres.moderation_tables import withheld_texts
from sessions.adapters.postgres.tables import sessions
from sessions.adapters.postgres.transaction import Transaction
from sessions.domain.session import SessionId
from sessions.ports import WithheldTexts


class PostgresWithheldTexts(WithheldTexts):
    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    @override
    async def add(self, session: SessionId, turn: int, text: str) -> None:
        values = {"session_id": session, "number": turn, "text": text}
        # The tenant comes from the session's own row, as that of the turn does.
        source = select(
            sessions.c.tenant_id,
            *(bindparam(name, value, withheld_texts.c[name].type, unique=True) for name, value in values.items()),
        ).where(sessions.c.id == session)
        await self._transaction.changed(insert(withheld_texts).from_select(["tenant_id", *values], source))

    @override
    async def get(self, session: SessionId, turn: int) -> str | None:
        row = await self._transaction.one(
            select(withheld_texts.c.text).where(withheld_texts.c.session_id == session, withheld_texts.c.number == turn)
        )
        return None if row is None else str(row.text)
