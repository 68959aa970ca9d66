"""Reviews in Postgres: turns with findings by the index of those, and a row for each decision."""

from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Row, Select, or_, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncEngine
from typing_extensions import override

from sessions.adapters.postgres.moderation_tables import moderation_audit, moderation_decisions, withheld_texts
from sessions.adapters.postgres.tables import scenario_versions, sessions, turns
from sessions.adapters.postgres.transaction import LIMIT_S, begun
from sessions.adapters.postgres.turns import turn_of
from sessions.domain.moderation import Verdict
from sessions.domain.review import (
    NEIGHBOURS,
    ChangeKind,
    Decided,
    Decision,
    ListChange,
    Review,
    ReviewFilter,
    ReviewInContext,
    ReviewPage,
    ReviewPlace,
    ReviewState,
    audit_facts,
    page_of,
)
from sessions.domain.session import SessionId
from sessions.domain.viewer import TenantId
from sessions.errors import ReviewNotFound
from sessions.review_ports import Reviews

_DECIDED = moderation_decisions.c
_BLOCKED = turns.c.moderation["blocked"].astext.is_not(None)
_FOUND = or_(turns.c.moderation.contains({"marks": [{}]}), _BLOCKED)


class PostgresReviews(Reviews):
    def __init__(self, *, engine: AsyncEngine, limit_s: float = LIMIT_S) -> None:
        self._engine = engine
        self._limit_s = limit_s

    @override
    async def page(
        self, tenant: TenantId, which: ReviewFilter, *, limit: int, after: ReviewPlace | None = None
    ) -> ReviewPage:
        place = turns.c.ended_at, turns.c.session_id, turns.c.number
        wanted = _reviews(tenant).where(*_conditions(which))
        if after is not None:
            wanted = wanted.where(tuple_(*place) < tuple_(after.at, after.session, after.turn))
        newest = wanted.order_by(*(part.desc() for part in place)).limit(limit + 1)
        async with begun(self._engine, of=tenant, limit_s=self._limit_s) as running:
            rows = await running.all(newest)
        return page_of([_review(row) for row in rows], limit)

    @override
    async def get(self, tenant: TenantId, session: SessionId, turn: int) -> ReviewInContext | None:
        near = (
            select(turns)
            .where(turns.c.session_id == session, turns.c.number != turn)
            .where(turns.c.number.between(turn - NEIGHBOURS, turn + NEIGHBOURS))
            .order_by(turns.c.number)
        )
        async with begun(self._engine, of=tenant, limit_s=self._limit_s) as running:
            row = await running.one(_in_context(_one(tenant, session, turn)))
            if row is None:
                return None
            others = [turn_of(other) for other in await running.all(near)]
        return ReviewInContext(
            review=_review(row),
            title=row.title,
            withheld=row.withheld,
            before=tuple(one for one in others if one.number < turn),
            after=tuple(one for one in others if one.number > turn),
        )

    @override
    async def decide(self, tenant: TenantId, decision: Decision) -> Decision:
        that = _one(tenant, decision.session, decision.turn)
        async with begun(self._engine, of=tenant, limit_s=self._limit_s) as running:
            if await running.one(that) is None:
                raise ReviewNotFound("there is no such turn to review")
            # Of two at once the second waits here until the first is written, or given up.
            row = insert(moderation_decisions).values(_row(tenant, decision)).on_conflict_do_nothing()
            if await running.one(row.returning(_DECIDED.number)) is not None:
                await running.changed(insert(moderation_audit).values(_line(tenant, decision)))
                return decision
            kept = await running.one(that)
        earlier = None if kept is None else _decision(kept)
        if earlier is None:
            raise ReviewNotFound("the turn has just been removed")
        return earlier

    @override
    async def done(self, tenant: TenantId, decision: Decision) -> None:
        mine = _DECIDED.tenant_id == tenant, _DECIDED.session_id == decision.session, _DECIDED.number == decision.turn
        async with begun(self._engine, of=tenant, limit_s=self._limit_s) as running:
            await running.changed(update(moderation_decisions).where(*mine).values(effect=_effect(decision.effect)))


def _reviews(tenant: TenantId) -> Select[Any]:
    of_turn = (_DECIDED.session_id == turns.c.session_id) & (_DECIDED.number == turns.c.number)
    return (
        select(
            turns,
            sessions.c.trainee_id,
            sessions.c.scenario_id,
            sessions.c.scenario_version,
            _DECIDED.decision,
            _DECIDED.note,
            _DECIDED.effect,
            _DECIDED.decided_by,
            _DECIDED.decided_at,
        )
        .join_from(turns, sessions, (sessions.c.tenant_id == turns.c.tenant_id) & (sessions.c.id == turns.c.session_id))
        .outerjoin(moderation_decisions, of_turn)
        .where(turns.c.tenant_id == tenant, turns.c.moderation.is_not(None), _FOUND)
    )


def _one(tenant: TenantId, session: SessionId, turn: int) -> Select[Any]:
    return _reviews(tenant).where(turns.c.session_id == session, turns.c.number == turn)


def _in_context(one: Select[Any]) -> Select[Any]:
    of_session = (
        (scenario_versions.c.tenant_id == sessions.c.tenant_id)
        & (scenario_versions.c.scenario_id == sessions.c.scenario_id)
        & (scenario_versions.c.version == sessions.c.scenario_version)
    )
    words = (withheld_texts.c.session_id == turns.c.session_id) & (withheld_texts.c.number == turns.c.number)
    return (
        one.join(scenario_versions, of_session)
        .outerjoin(withheld_texts, words)
        .add_columns(
            scenario_versions.c.content["title"].astext.label("title"), withheld_texts.c.text.label("withheld")
        )
    )


def _conditions(which: ReviewFilter) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if which.state is not None:
        found.append(_DECIDED.number.is_(None) if which.state is ReviewState.OPEN else _DECIDED.number.is_not(None))
    if which.session is not None:
        found.append(turns.c.session_id == which.session)
    if which.source is not None:
        found.append(turns.c.moderation.contains({"marks": [{"source": which.source}]}))
    match which.verdict:
        case Verdict.BLOCK:
            found.append(_BLOCKED)
        case Verdict.FLAG:
            found.append(~_BLOCKED)
        case _:
            pass
    return found


def _row(tenant: TenantId, decision: Decision) -> dict[str, object]:
    return {
        "session_id": decision.session,
        "number": decision.turn,
        "tenant_id": tenant,
        "decision": decision.decided,
        "note": decision.note,
        "effect": _effect(decision.effect),
        "decided_by": decision.by,
        "decided_at": decision.at,
    }


def _line(tenant: TenantId, decision: Decision) -> dict[str, object]:
    """Of the audit trail."""
    return {
        "tenant_id": tenant,
        "at": decision.at,
        "actor": decision.by,
        "action": "turn_reviewed",
        "subject": f"{decision.session}/{decision.turn}",
        "facts": audit_facts(decision),
    }


def _effect(change: ListChange | None) -> dict[str, object]:
    if change is None:
        return {}
    return {"kind": change.kind, "list": str(change.list), "subject": change.subject, "version": change.version}


def _review(row: Row[Any]) -> Review:
    return Review(turn_of(row), row.trainee_id, row.scenario_id, row.scenario_version, _decision(row))


def _decision(row: Row[Any]) -> Decision | None:
    if row.decision is None:
        return None
    return Decision(
        session=row.session_id,
        turn=row.number,
        decided=Decided(row.decision),
        note=row.note,
        effect=_change(row.effect),
        by=row.decided_by,
        at=row.decided_at,
    )


def _change(effect: dict[str, Any]) -> ListChange | None:
    if not effect:
        return None
    return ListChange(ChangeKind(effect["kind"]), UUID(effect["list"]), effect["subject"], effect["version"])
