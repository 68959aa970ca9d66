"""The database's errors in our words."""

import pytest
from sqlalchemy.exc import (
    DataError,
    DBAPIError,
    IntegrityError,
    InterfaceError,
    InternalError,
    OperationalError,
    ProgrammingError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeout

from sessions.adapters.postgres.transaction import in_our_words
from sessions.errors import RecordsUnavailable, ValueUnstorable


class _DriverError(Exception):
    def __init__(self, message: str, sqlstate: str | None = None) -> None:
        super().__init__(message)
        self.sqlstate = sqlstate


def _said(kind: type[DBAPIError], message: str, sqlstate: str | None = None, *, lost: bool = False) -> DBAPIError:
    return kind("select", None, _DriverError(message, sqlstate), connection_invalidated=lost)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (_said(OperationalError, "server closed the connection\nthis probably means"), "server closed the connection$"),
        (_said(OperationalError, ""), "no reason given"),
        (_said(InterfaceError, "the connection is closed"), "the connection is closed"),
        (PoolTimeout("QueuePool limit"), "every connection"),
        (_said(ProgrammingError, 'relation "turns" does not exist', "42P01"), "drillyard db migrate"),
        (_said(ProgrammingError, 'column "x" does not exist', "42703"), "drillyard db migrate"),
        (_said(InternalError, "cannot execute UPDATE in a read-only transaction", "25006"), "a standby"),
        (_said(DBAPIError, "idle in transaction", "25P03", lost=True), "ended the connection"),
    ],
)
def test_a_database_that_cannot_be_asked_is_unavailable(error: Exception, message: str) -> None:
    with pytest.raises(RecordsUnavailable, match=message), in_our_words():
        raise error


def test_a_value_that_cannot_be_held_is_told_without_the_value() -> None:
    with pytest.raises(ValueUnstorable) as told, in_our_words():
        raise _said(DataError, "invalid byte sequence: the trainee's words")
    assert "words" not in str(told.value)


@pytest.mark.parametrize(
    "error",
    [
        _said(ProgrammingError, "syntax error", "42601"),
        _said(IntegrityError, "violates a check"),
        _said(DBAPIError, "something else"),
        KeyError("not the database's"),
    ],
)
def test_a_mistake_of_ours_comes_out_as_it_is(error: Exception) -> None:
    with pytest.raises(type(error)) as raised, in_our_words():
        raise error
    assert raised.value is error
