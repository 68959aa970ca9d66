"""What every turn asks of the records, each in one question: the session with a turn of it, and its next version."""

import json
from types import SimpleNamespace
from typing import Any, Final

from sqlalchemy import (
    CTE,
    ColumnElement,
    Select,
    Uuid,
    and_,
    bindparam,
    literal_column,
    null,
    or_,
    select,
    true,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from sessions.adapters.postgres.question import Question, Questions, Row
from sessions.adapters.postgres.sessions import session_of
from sessions.adapters.postgres.tables import outbox, sessions, turns
from sessions.adapters.postgres.turns import turn_of, turn_values
from sessions.domain.session import Session, SessionId
from sessions.domain.turn import Turn
from sessions.domain.viewer import Viewer
from sessions.errors import SessionMoved
from sessions.ports import FoundSession, OutboxEntry
from sessions.tenant_wall import side_of

_OF_SESSION: Final = tuple(sessions.c.keys())
_OF_TURN: Final = tuple(turns.c.keys())

_SEEN: Final = and_(
    sessions.c.id == bindparam("session"),
    sessions.c.tenant_id == bindparam("tenant"),
    or_(bindparam("only_of", type_=Uuid) == null(), sessions.c.trainee_id == bindparam("only_of", type_=Uuid)),
)


def _with_turn(wanted: Any) -> Select[Any]:
    latest = (
        select(turns)
        .where(turns.c.session_id == sessions.c.id, wanted)
        .order_by(turns.c.number.desc())
        .limit(literal_column("1"))
    ).lateral()
    return select(sessions, latest).select_from(sessions.outerjoin(latest, true())).where(_SEEN)


_BEFORE: Final = and_(
    sessions.c.tenant_id == bindparam("tenant"),
    sessions.c.id == bindparam("session_id"),
    sessions.c.version == bindparam("version"),
)
_ADVANCED: Final = ("state", "scene", "version", "turn_count", "closed_at")
_TOLD: Final = ("kind", "subject", "facts", "created_at")


def _played() -> CTE:
    """The turn, where the row is at the version before, which is locked until the end of the transaction."""
    held = select(sessions.c.tenant_id).where(_BEFORE).with_for_update(key_share=True).cte("held")
    columns = [column for column in turns.c if column.name != "tenant_id"]
    return (
        insert(turns)
        .from_select(
            ["tenant_id", *(column.name for column in columns)],
            select(held.c.tenant_id, *(bindparam(column.name, type_=column.type) for column in columns)),
        )
        .on_conflict_do_nothing()
        .returning(turns.c.session_id)
        .cte("played")
    )


def _advancing(*conditions: ColumnElement[bool]) -> Select[Any]:
    """The row's next version where all of this holds, and the entry behind it."""
    advanced = (
        update(sessions)
        .where(*conditions)
        .values({name: bindparam(f"session_{name}", type_=sessions.c[name].type) for name in _ADVANCED})
        .returning(*sessions.c)
        .cte("advanced")
    )
    told = (bindparam(f"told_{name}", type_=outbox.c[name].type) for name in _TOLD)
    entered = insert(outbox).from_select(["tenant_id", *_TOLD], select(advanced.c.tenant_id, *told)).cte("entered")
    return select(advanced).add_cte(entered)


_ALONE: Final = Question(select(sessions).where(_SEEN))
_BY_NUMBER: Final = Question(_with_turn(turns.c.number == bindparam("turn")))
_BY_KEY: Final = Question(_with_turn(turns.c.idempotency_key == bindparam("turn")))
_ADVANCING: Final = Question(_advancing(_BEFORE))
_PLAYING: Final = Question(_advancing(sessions.c.id == _played().c.session_id))


async def find(questions: Questions, viewer: Viewer, session: SessionId, turn: int | str | None) -> FoundSession | None:
    question = {int: _BY_NUMBER, str: _BY_KEY}.get(type(turn), _ALONE)
    values = {"session": session, "tenant": viewer.tenant, "only_of": viewer.only_of, "turn": turn}
    row = await questions.ask(side_of(viewer.tenant), question, values)
    return None if row is None else _found(row)


async def advance(questions: Questions, session: Session, entry: OutboxEntry) -> Session:
    row = await questions.write(side_of(session.tenant), _ADVANCING, _advanced(session, entry))
    if row is None:
        raise SessionMoved(f"the session {session.id} is not at version {session.version - 1}")
    return session_of(_named(_OF_SESSION, row))


async def add_turn(questions: Questions, session: Session, turn: Turn, entry: OutboxEntry) -> Session:
    values = {**_advanced(session, entry), **turn_values(turn)}
    for name in ("citations", "moderation"):
        values[name] = None if values[name] is None else json.dumps(values[name])
    row = await questions.write(side_of(session.tenant), _PLAYING, values)
    if row is None:
        raise SessionMoved(
            f"the session {session.id} is not at version {session.version - 1}, or its turn {turn.number} is taken"
        )
    return session_of(_named(_OF_SESSION, row))


def _advanced(session: Session, entry: OutboxEntry) -> dict[str, object]:
    return {
        "tenant": session.tenant,
        "session_id": session.id,
        "version": session.version - 1,
        **{f"session_{name}": getattr(session, name) for name in _ADVANCED},
        "told_kind": entry.kind,
        "told_subject": entry.subject,
        "told_facts": json.dumps(entry.facts),
        "told_created_at": entry.at,
    }


def _found(row: Row) -> FoundSession:
    of_session, of_turn = row[: len(_OF_SESSION)], row[len(_OF_SESSION) :]
    # Where no turn was found its columns are all null, and where none was asked for there are none.
    turn = turn_of(_named(_OF_TURN, of_turn)) if any(of_turn) else None
    return FoundSession(session_of(_named(_OF_SESSION, of_session)), turn)


def _named(names: tuple[str, ...], row: Row) -> SimpleNamespace:
    return SimpleNamespace(**dict(zip(names, row, strict=True)))
