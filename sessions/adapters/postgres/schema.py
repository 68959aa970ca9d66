"""Whether the database has every table that this process asks for."""

from importlib.resources import files

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from sessions.adapters.postgres.transaction import in_our_words
from sessions.errors import RecordsUnavailable

_NOT_YET = "lacks tables that this version needs: run `drillyard db migrate`"


def newest() -> str:
    """The version that the migrations lead to; versions are numbered, so that a later one is greater."""
    steps = files("sessions").joinpath("migrations", "versions").iterdir()
    return max(step.name.partition("_")[0] for step in steps if step.name.endswith(".py"))


async def schema_trouble(engine: AsyncEngine) -> str | None:
    """Why this process cannot work with the database as it is now, or None. A newer one will do: it grows first."""
    try:
        stored = await _stored(engine)
    except RecordsUnavailable as error:
        return str(error)
    return None if stored >= newest() else _NOT_YET


async def _stored(engine: AsyncEngine) -> str:
    """The version of the database; empty for one that never was migrated."""
    with in_our_words():
        async with engine.connect() as connection:
            table = await connection.scalar(text("select to_regclass('alembic_version')"))
            if table is None:
                return ""
            version: str | None = await connection.scalar(text("select max(version_num) from alembic_version"))
            return version or ""
