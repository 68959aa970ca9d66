"""How the database is reached: driver, pool, and every time-out."""

from sqlalchemy import URL, make_url
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

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
    return create_async_engine(
        driver_url(database_url),
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=pool_timeout_s,
        # A server that was restarted is noticed when a connection is taken, not in the middle of a turn.
        pool_pre_ping=True,
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


def asking_engine(database_url: str, *, connect_timeout_s: int = 2) -> AsyncEngine:
    """An engine with one connection, to ask whether the server answers; nobody waits for it but who asks that."""
    return create_async_engine(
        driver_url(database_url),
        pool_size=1,
        max_overflow=0,
        connect_args={"connect_timeout": connect_timeout_s, "application_name": "drillyard asks"},
    )
