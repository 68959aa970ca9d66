"""Sessions in Postgres: the version column guards every change, a unique key every creation."""

from typing import Any

from sqlalchemy import ColumnElement, select, update
from sqlalchemy.dialects.postgresql import insert
from typing_extensions import override

from sessions.adapters.postgres.paging import page, paged
from sessions.adapters.postgres.tables import sessions
from sessions.adapters.postgres.transaction import Transaction
from sessions.domain.page import Cursor, Page
from sessions.domain.session import Session, SessionFilter, SessionId, State
from sessions.domain.turn import IdempotencyKey
from sessions.domain.viewer import AccountId, TenantId, Viewer
from sessions.errors import IdempotencyKeyReused, SessionMoved
from sessions.ports import Sessions


class PostgresSessions(Sessions):
    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    @override
    async def add(self, session: Session, idempotency: IdempotencyKey | None) -> Session:
        # The insert waits for another one with the same key to commit or give up, so the answer below is final.
        written = await self._transaction.of(session.tenant).one(
            insert(sessions)
            .values(_values(session, idempotency))
            .on_conflict_do_nothing(constraint="sessions_idempotency_key")
            .returning(sessions.c.id)
        )
        if written is not None or idempotency is None:
            return session
        earlier = await self.by_key(session.tenant, session.trainee, idempotency)
        if earlier is None:
            raise IdempotencyKeyReused
        return earlier

    @override
    async def by_key(self, tenant: TenantId, trainee: AccountId, idempotency: IdempotencyKey) -> Session | None:
        row = await self._transaction.of(tenant).one(
            select(sessions).where(
                sessions.c.tenant_id == tenant,
                sessions.c.trainee_id == trainee,
                sessions.c.idempotency_key == idempotency.key,
            )
        )
        if row is None:
            return None
        if row.idempotency_digest != idempotency.digest:
            raise IdempotencyKeyReused
        return session_of(row)

    @override
    async def get(self, viewer: Viewer, session: SessionId) -> Session | None:
        row = await self._transaction.of(viewer.tenant).one(
            select(sessions).where(sessions.c.id == session, *_visible_to(viewer))
        )
        return None if row is None else session_of(row)

    @override
    async def list(
        self, viewer: Viewer, which: SessionFilter, *, limit: int, after: Cursor | None = None
    ) -> Page[Session]:
        wanted = select(sessions).where(*_visible_to(viewer))
        if which.trainee is not None:
            wanted = wanted.where(sessions.c.trainee_id == which.trainee)
        if which.state is not None:
            wanted = wanted.where(sessions.c.state == which.state)
        if which.drill is not None:
            wanted = wanted.where(sessions.c.drill_id == which.drill)
        rows = await self._transaction.of(viewer.tenant).all(
            paged(wanted, sessions.c.created_at, sessions.c.id, limit=limit, after=after)
        )
        return page(rows, limit, item=session_of, place="created_at")

    @override
    async def advance(self, session: Session) -> Session:
        advanced = await self._transaction.of(session.tenant).one(
            update(sessions)
            .where(
                sessions.c.tenant_id == session.tenant,
                sessions.c.id == session.id,
                sessions.c.version == session.version - 1,
            )
            .values(
                state=session.state,
                scene=session.scene,
                version=session.version,
                turn_count=session.turn_count,
                closed_at=session.closed_at,
            )
            .returning(sessions)
        )
        if advanced is None:
            raise SessionMoved(f"the session {session.id} is not at version {session.version - 1}")
        return session_of(advanced)


def _visible_to(viewer: Viewer) -> list[ColumnElement[bool]]:
    mine = [] if viewer.only_of is None else [sessions.c.trainee_id == viewer.only_of]
    return [sessions.c.tenant_id == viewer.tenant, *mine]


def _values(session: Session, idempotency: IdempotencyKey | None) -> dict[str, object]:
    return {
        "id": session.id,
        "tenant_id": session.tenant,
        "trainee_id": session.trainee,
        "scenario_id": session.scenario,
        "scenario_version": session.scenario_version,
        "scene": session.scene,
        "opening": session.opening,
        "state": session.state,
        "version": session.version,
        "turn_count": session.turn_count,
        "metadata": dict(session.metadata),
        "created_at": session.created_at,
        "closed_at": session.closed_at,
        "drill_id": session.drill,
        "idempotency_key": idempotency.key if idempotency else None,
        "idempotency_digest": idempotency.digest if idempotency else None,
    }


def session_of(row: Any) -> Session:
    return Session(
        id=row.id,
        tenant=row.tenant_id,
        trainee=row.trainee_id,
        scenario=row.scenario_id,
        scenario_version=row.scenario_version,
        scene=row.scene,
        opening=row.opening,
        created_at=row.created_at,
        state=State(row.state),
        version=row.version,
        turn_count=row.turn_count,
        note_count=row.note_count,
        closed_at=row.closed_at,
        metadata=row.metadata,
        drill=row.drill_id,
    )
