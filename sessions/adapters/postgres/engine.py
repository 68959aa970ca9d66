"""How the database is reached: driver, pool, and every time-out."""

import select
from typing import Any

from sqlalchemy import URL, event, make_url
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

DRIVER = "postgresql+psycopg"


def driver_url(database_url: str) -> URL:
    """The address with our driver in it, however it was written."""
    return make_url(database_url).set(drivername=DRIVER)


def postgres_engine(
    database_url: str,
    *,
    pool_size: int = 20,
    pool_timeout_s: float = 5.0,
    connect_timeout_s: int = 3,
    statement_timeout_s: float = 10.0,
    lock_timeout_s: float = 5.0,
) -> AsyncEngine:
    """An engine that opens nothing yet; whoever makes it disposes of it."""
    engine = create_async_engine(
        driver_url(database_url),
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=pool_timeout_s,
        # Parameters are people's words, and errors are logged.
        hide_parameters=True,
        connect_args={
            "connect_timeout": connect_timeout_s,
            "application_name": "drillyard",
            "options": " ".join(
                f"-c {name}={round(seconds * 1000)}"
                for name, seconds in (
                    ("statement_timeout", statement_timeout_s),
                    ("lock_timeout", lock_timeout_s),
                    ("idle_in_transaction_session_timeout", 2 * statement_timeout_s),
                )
            ),
        },
    )
    event.listen(engine.sync_engine, "checkout", _look_at)
    return engine


def _look_at(connection: Any, entry: ConnectionPoolEntry, _: object) -> None:
    """A server that was restarted is noticed when a connection is taken, not in the middle of a turn, and without a
    question: its farewell, or the end of the line, lies there to be read. On a line that rests nothing else does, but
    for a remark of the server's now and then, such as that its settings were read anew.
    """
    line, has_rested = connection.driver_connection, "used" in entry.info
    entry.info["used"] = True  # forgotten by itself when the line is replaced
    if has_rested and (line.closed or _has_news(line.fileno())):
        raise InvalidatePoolError("the server has hung up")


def _has_news(line: int) -> bool:
    poll = select.poll()
    poll.register(line, select.POLLIN)
    return bool(poll.poll(0))


def asking_engine(database_url: str, *, connect_timeout_s: int = 2) -> AsyncEngine:
    """An engine with one connection, to ask whether the server answers; nobody waits for it but who asks that."""
    return create_async_engine(
        driver_url(database_url),
        pool_size=1,
        max_overflow=0,
        connect_args={"connect_timeout": connect_timeout_s, "application_name": "drillyard asks"},
    )
