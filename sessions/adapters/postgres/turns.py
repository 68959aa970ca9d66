"""Turns in Postgres: one row each, in the tenant of their session."""

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import Row, bindparam, select
from sqlalchemy.dialects.postgresql import insert
from typing_extensions import override

from sessions.adapters.postgres.tables import sessions, turns
from sessions.adapters.postgres.transaction import Transaction
from sessions.domain.citation import Citation
from sessions.domain.moderation import NOTHING_FOUND, Judgement
from sessions.domain.session import SessionId
from sessions.domain.tiers import Tier
from sessions.domain.turn import IdempotencyKey, Timings, Turn, TurnError, TurnState, Usage
from sessions.errors import SessionMoved
from sessions.ports import Turns

_CITATIONS = TypeAdapter(tuple[Citation, ...])
_JUDGEMENT = TypeAdapter(Judgement)


class PostgresTurns(Turns):
    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    @override
    async def add(self, turn: Turn) -> None:
        values = turn_values(turn)
        # The tenant comes from the session's own row, so a turn cannot land in another one.
        source = select(
            sessions.c.tenant_id,
            *(bindparam(name, value, turns.c[name].type, unique=True) for name, value in values.items()),
        ).where(sessions.c.id == turn.session)
        written = await self._transaction.one(
            insert(turns).from_select(["tenant_id", *values], source).on_conflict_do_nothing().returning(turns.c.number)
        )
        if written is None:
            raise SessionMoved(f"turn {turn.number} of session {turn.session} or its idempotency key is taken")

    @override
    async def all(self, session: SessionId) -> Sequence[Turn]:
        rows = await self._transaction.all(select(turns).where(turns.c.session_id == session).order_by(turns.c.number))
        return [turn_of(row) for row in rows]

    @override
    async def get(self, session: SessionId, number: int) -> Turn | None:
        row = await self._transaction.one(select(turns).where(turns.c.session_id == session, turns.c.number == number))
        return None if row is None else turn_of(row)

    @override
    async def page(self, session: SessionId, *, limit: int, after: int = 0) -> Sequence[Turn]:
        rows = await self._transaction.all(
            select(turns)
            .where(turns.c.session_id == session, turns.c.number > after)
            .order_by(turns.c.number)
            .limit(limit)
        )
        return [turn_of(row) for row in rows]

    @override
    async def by_key(self, session: SessionId, key: str) -> Turn | None:
        row = await self._transaction.one(
            select(turns)
            .where(turns.c.session_id == session, turns.c.idempotency_key == key)
            .order_by(turns.c.number.desc())
            .limit(1)
        )
        return None if row is None else turn_of(row)


def turn_values(turn: Turn) -> dict[str, object]:
    return {
        "session_id": turn.session,
        "number": turn.number,
        "state": turn.state,
        "text": turn.text,
        "reply": turn.reply,
        "started_at": turn.started_at,
        "ended_at": turn.ended_at,
        "text_tokens": turn.text_tokens,
        "reply_tokens": turn.reply_tokens,
        "finish_reason": turn.finish_reason,
        "prompt_tokens": turn.usage.prompt_tokens,
        "cached_tokens": turn.usage.cached_tokens,
        "completion_tokens": turn.usage.completion_tokens,
        "queue_ms": turn.timings.queue_ms,
        "ttft_ms": turn.timings.ttft_ms,
        "e2e_ms": turn.timings.e2e_ms,
        "replica": turn.replica,
        "continued": turn.continued,
        "error_code": turn.error.code if turn.error else None,
        "error_message": turn.error.message if turn.error else None,
        "error_retryable": turn.error.retryable if turn.error else None,
        "idempotency_key": turn.idempotency.key if turn.idempotency else None,
        "idempotency_digest": turn.idempotency.digest if turn.idempotency else None,
        "scene": turn.scene,
        "model": turn.model,
        "tier": turn.tier,
        "fell_back": turn.fell_back,
        "citations": _CITATIONS.dump_python(turn.citations, mode="json"),
        "moderation": _kept(turn.moderation),
    }


def _kept(judgement: Judgement) -> object:
    return None if judgement == NOTHING_FOUND else _JUDGEMENT.dump_python(judgement, mode="json")


def turn_of(row: Any) -> Turn:
    return Turn(
        session=row.session_id,
        number=row.number,
        state=TurnState(row.state),
        text=row.text,
        reply=row.reply,
        started_at=row.started_at,
        ended_at=row.ended_at,
        text_tokens=row.text_tokens,
        reply_tokens=row.reply_tokens,
        finish_reason=row.finish_reason,
        usage=Usage(row.prompt_tokens, row.cached_tokens, row.completion_tokens),
        timings=Timings(row.queue_ms, row.ttft_ms, row.e2e_ms),
        replica=row.replica,
        continued=row.continued,
        error=None if row.error_code is None else TurnError(row.error_code, row.error_message, row.error_retryable),
        idempotency=_idempotency(row),
        scene=row.scene,
        model=row.model,
        tier=Tier(row.tier),
        fell_back=row.fell_back,
        citations=_CITATIONS.validate_python(row.citations),
        moderation=NOTHING_FOUND if row.moderation is None else _JUDGEMENT.validate_python(row.moderation),
    )


def _idempotency(row: Row[Any]) -> IdempotencyKey | None:
    return None if row.idempotency_key is None else IdempotencyKey(row.idempotency_key, row.idempotency_digest)
