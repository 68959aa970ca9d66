"""The controller's transactions with Postgres, and the database's errors in our words."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from sqlalchemy import Executable
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from router.fleet.errors import LedgerUnavailable


class FleetDatabase:
    """`step`: what each transaction begins with, such as to step down to a role that may do less."""

    def __init__(self, *, engine: AsyncEngine, step: Executable | None = None, limit_s: float = 10.0) -> None:
        self._engine = engine
        self._step = step
        self._limit_s = limit_s

    @asynccontextmanager
    async def begun(self) -> AsyncIterator[AsyncConnection]:
        """One transaction: committed when the block ends, rolled back when it raises or takes too long."""
        limit = asyncio.timeout(self._limit_s)
        try:
            async with limit:
                with _in_our_words():
                    async with self._engine.begin() as connection:
                        if self._step is not None:
                            await connection.execute(self._step)
                        yield connection
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise LedgerUnavailable(f"the database did not answer within {self._limit_s:g} s") from error


@contextmanager
def _in_our_words() -> Iterator[None]:
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        raise LedgerUnavailable(f"the database cannot be asked: {_first_line(error.orig)}") from error
    except PoolTimeout as error:
        raise LedgerUnavailable("every connection to the database is in use") from error
    except DBAPIError as error:
        reason = _unavailable(error)
        if reason is None:
            raise
        raise LedgerUnavailable(reason) from error


def _unavailable(error: DBAPIError) -> str | None:
    """What keeps the database from being asked, or None for a mistake of ours."""
    match getattr(error.orig, "sqlstate", None):
        case "42P01" | "42703":  # no such table or column
            return "the database lacks a table: run `drillyard db migrate`"
        case "25006":  # a change in a read-only transaction
            return "the database takes no changes: it is a standby"
        case _:
            pass
    return f"the database ended the connection: {_first_line(error.orig)}" if error.connection_invalidated else None


def _first_line(error: BaseException | None) -> str:
    return next(iter(str(error).strip().splitlines()), "no reason given")
