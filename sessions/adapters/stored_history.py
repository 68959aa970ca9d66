"""A history, and the row of its session, as bytes: written for Redis, read back strictly, and nothing rather than an
error when they are not ours."""

from typing import Final

import msgspec

from sessions.domain.history import History
from sessions.domain.session import Session, SessionId

FORMAT: Final = 1
"""Of another one nothing is read: processes of two versions may share a Redis."""

MOST_BYTES: Final = 1 << 20
"""A talk of 200 long turns stays below it."""


class _Stored(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    format: int
    session: SessionId
    history: History


def packed(session: SessionId, history: History) -> bytes | None:
    """None when it is too large to be worth keeping."""
    data = msgspec.msgpack.encode(_Stored(FORMAT, session, history))
    return data if len(data) <= MOST_BYTES else None


def unpacked(session: SessionId, data: bytes) -> History | None:
    """None when these bytes are not a history of this session."""
    if len(data) > MOST_BYTES:
        return None
    try:
        stored = msgspec.msgpack.decode(data, type=_Stored)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    if stored.format != FORMAT or stored.session != session:
        return None
    owners = {note.session for note in stored.history.notes} | {turn.session for turn in stored.history.turns}
    return stored.history if owners <= {session} else None


class _StoredSession(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    format: int
    session: Session


def packed_session(session: Session) -> bytes:
    return msgspec.msgpack.encode(_StoredSession(FORMAT, session))


def unpacked_session(session: SessionId, data: bytes) -> Session | None:
    """None when these bytes are not the row of this session."""
    try:
        stored = msgspec.msgpack.decode(data, type=_StoredSession)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return stored.session if stored.format == FORMAT and stored.session.id == session else None
