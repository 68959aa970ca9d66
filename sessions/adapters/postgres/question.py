"""What is asked so often that each way to the server and back counts: one statement, straight to the driver.

The step over the tenants' wall, and the beginning of a transaction where there is one, are sent together with the
statement, and it was compiled once for all. Everything else goes by `transaction.py`.
"""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final

from psycopg import AsyncConnection, DataError, Error, InterfaceError, OperationalError
from sqlalchemy import ClauseElement, text
from sqlalchemy.dialects.postgresql import psycopg as dialect
from sqlalchemy.ext.asyncio import AsyncEngine

from sessions.adapters.postgres.transaction import cannot_be_asked, in_our_words, unavailable, within
from sessions.errors import RecordsUnavailable, ValueUnstorable
from sessions.tenant_wall import STEP, Side

Row = tuple[Any, ...]
Line = AsyncConnection[Row]

_DIALECT: Final = dialect.dialect()  # type: ignore[no-untyped-call]


class Question:
    """At most one row answers it. Columns of JSON take their text."""

    def __init__(self, statement: ClauseElement) -> None:
        self.sql: Final = str(statement.compile(dialect=_DIALECT)).encode()


_STEP: Final = Question(text(STEP))


class Questions:
    """Questions to the database behind the engine; an answer that takes longer than `limit_s` is given up."""

    def __init__(self, *, engine: AsyncEngine, limit_s: float) -> None:
        # So the driver begins nothing by itself.
        self._engine = engine.execution_options(isolation_level="AUTOCOMMIT")
        self._limit_s = limit_s

    async def ask(self, side: Side, question: Question, values: Mapping[str, object]) -> Row | None:
        """The row that the statement finds, from this side of the wall."""
        async with self._line() as line:
            # What is sent in one go is one transaction, so the step holds for the statement and no longer.
            return await _answer(line, side, question, values)

    async def write(self, side: Side, question: Question, values: Mapping[str, object]) -> Row | None:
        """The row that the statement has written, once that is committed; without a row nothing is."""
        async with self._line() as line:
            row = await _answer(line, side, question, values, begin=True)
            await line.execute(b"rollback" if row is None else b"commit", prepare=False)
        return row

    @asynccontextmanager
    async def _line(self) -> AsyncIterator[Line]:
        async with within(self._limit_s):
            with in_our_words():
                async with self._engine.connect() as connection:
                    line: Any = (await connection.get_raw_connection()).driver_connection
                    try:
                        with _in_our_words(line):
                            yield line
                    finally:
                        if line.closed:
                            await connection.invalidate()


async def _answer(
    line: Line, side: Side, question: Question, values: Mapping[str, object], *, begin: bool = False
) -> Row | None:
    async with line.pipeline():
        if begin:
            await line.execute(b"begin", prepare=True)
        await line.execute(_STEP.sql, {"side": side}, prepare=True)
        asked = await line.execute(question.sql, values, prepare=True)
    return await asked.fetchone()


@contextmanager
def _in_our_words(line: Line) -> Iterator[None]:
    """As `in_our_words`, for what the driver itself says."""
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        raise cannot_be_asked(error) from error
    except (DataError, UnicodeEncodeError) as error:
        raise ValueUnstorable from error
    except Error as error:
        reason = unavailable(error, is_ended=line.closed)
        if reason is None:
            raise
        raise RecordsUnavailable(reason) from error
