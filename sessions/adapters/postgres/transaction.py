"""One transaction's way to the database: statements in, rows out, and the database's errors in our words."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from uuid import UUID

from sqlalchemy import ClauseElement, CursorResult, Executable, Row, Select, text
from sqlalchemy.exc import DataError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from sessions.errors import RecordsUnavailable, ValueUnstorable
from sessions.tenant_wall import EVERY_TENANT, NO_TENANT, STEP, Side, side_of

LIMIT_S = 15.0
"""A transaction that takes longer is given up: a server that hangs ends no statement by itself."""

_PART = 500
"""Rows that are written or read in one go. Every turn of the process waits while rows become statements or objects."""

_STEP = text(STEP)


class Transaction:
    """Runs statements on one open connection; whoever opened it commits.

    Each statement stands on one side of the wall between tenants: that of the tenant named last.
    """

    def __init__(self, connection: AsyncConnection, side: Side = NO_TENANT) -> None:
        self._connection = connection
        self._side = side
        self._stands_on: Side | None = None

    def of(self, tenant: UUID) -> "Transaction":
        """This transaction, whose next statements are this tenant's."""
        self._side = side_of(tenant)
        return self

    def of_all(self) -> "Transaction":
        """This transaction, whose next statements see every tenant."""
        self._side = EVERY_TENANT
        return self

    async def one(self, statement: Executable) -> Row[Any] | None:
        return (await self._execute(statement)).one_or_none()

    async def all(self, statement: Executable) -> Sequence[Row[Any]]:
        return (await self._execute(statement)).all()

    async def changed(self, statement: Executable) -> int:
        """How many rows the statement wrote."""
        return (await self._execute(statement)).rowcount

    async def each(self, statement: Executable, rows: Sequence[Mapping[str, object]]) -> None:
        """The statement once for each of the rows; nothing for none."""
        for start in range(0, len(rows), _PART):
            await self._execute(statement, [dict(row) for row in rows[start : start + _PART]])

    async def parts(self, statement: Select[Any]) -> AsyncIterator[Sequence[Row[Any]]]:
        """The rows of a long answer in parts, all as of one moment; one such answer in a transaction."""
        await self._execute(_Cursor(statement))
        following = text(f"fetch {_PART} from parts").columns(*statement.selected_columns)
        while part := await self.all(following):
            yield part

    async def _execute(self, statement: Executable, rows: list[dict[str, object]] | None = None) -> CursorResult[Any]:
        with in_our_words():
            try:
                await self._step()
                return await self._connection.execute(statement, rows)
            except UnicodeEncodeError as error:  # half a surrogate pair; the driver lets this one through as it is
                raise ValueUnstorable from error

    async def _step(self) -> None:
        if self._stands_on != self._side:
            await self._connection.execute(_STEP, {"side": self._side})
            self._stands_on = self._side


class _Cursor(Executable, ClauseElement):
    """Postgres keeps the answer until the transaction ends, and hands it out as it is fetched. Our own, because the
    driver's object for it is left open when whoever waits for it is cancelled."""

    inherit_cache = False

    def __init__(self, statement: Select[Any]) -> None:
        self.statement = statement


@compiles(_Cursor)
def _declared(cursor: _Cursor, compiler: SQLCompiler, **words: Any) -> str:
    return f"declare parts no scroll cursor for {compiler.process(cursor.statement, **words)}"


@asynccontextmanager
async def begun(
    engine: AsyncEngine, *, of: UUID | None = None, side: Side = NO_TENANT, limit_s: float = LIMIT_S
) -> AsyncIterator[Transaction]:
    """One transaction: committed when the block ends, rolled back when it raises or takes longer than `limit_s`.

    It is the tenant's that it is `of`, or stands on a `side` of the wall that is no tenant's.
    """
    side = side if of is None else side_of(of)
    async with within(limit_s):
        with in_our_words():
            async with engine.begin() as connection:
                yield Transaction(connection, side)


@asynccontextmanager
async def within(limit_s: float) -> AsyncIterator[None]:
    """Raises `RecordsUnavailable` when the block takes longer."""
    limit = asyncio.timeout(limit_s)
    try:
        async with limit:
            yield
    except TimeoutError as error:
        if not limit.expired():  # somebody else's, out of the block
            raise
        raise RecordsUnavailable(f"the database did not answer within {limit_s:g} s") from error


@contextmanager
def in_our_words() -> Iterator[None]:
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        raise cannot_be_asked(error.orig) from error
    except PoolTimeout as error:
        raise RecordsUnavailable("every connection to the database is in use") from error
    except DataError as error:
        raise ValueUnstorable from error
    except DBAPIError as error:
        reason = unavailable(error.orig, is_ended=error.connection_invalidated)
        if reason is None:
            raise
        raise RecordsUnavailable(reason) from error


def cannot_be_asked(error: BaseException | None) -> RecordsUnavailable:
    return RecordsUnavailable(f"the database cannot be asked: {_first_line(error)}")


def unavailable(error: BaseException | None, *, is_ended: bool) -> str | None:
    """What keeps the database from being asked, or None for a mistake of ours."""
    match getattr(error, "sqlstate", None):
        case "42P01" | "42703":  # no such table or column
            return "the database lacks a table: run `drillyard db migrate`"
        case "25006":  # a change in a read-only transaction
            return "the database takes no changes: it is a standby"
        case _:
            pass
    return f"the database ended the connection: {_first_line(error)}" if is_ended else None


def _first_line(error: BaseException | None) -> str:
    return next(iter(str(error).strip().splitlines()), "no reason given")
