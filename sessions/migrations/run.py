"""Brings a database's schema to the newest version, also when several processes do it at once."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from sessions.adapters.postgres.engine import driver_url
from sessions.errors import RecordsUnavailable

_CONNECT_TIMEOUT_S = 10
# Any number will do, as long as nobody else takes it for a lock of their own.
_LOCK = 7_305_019_811


def upgrade(database_url: str) -> None:
    """Run every step that the database lacks; raises `RecordsUnavailable` when it cannot be reached.

    Whoever comes second waits for the first and then finds nothing to do.
    """
    engine = create_engine(
        driver_url(database_url), poolclass=NullPool, connect_args={"connect_timeout": _CONNECT_TIMEOUT_S}
    )
    try:
        # The lock lives on a connection of its own, so that a step may use transactions as it likes.
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as guard, engine.connect() as connection:
            guard.execute(text("select pg_advisory_lock(:lock)"), {"lock": _LOCK})
            config = configuration()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    except OperationalError as error:
        raise RecordsUnavailable(f"the database cannot be migrated: {error.orig}") from error
    finally:
        engine.dispose()


def configuration() -> Config:
    """What `alembic.ini` would say."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    return config
