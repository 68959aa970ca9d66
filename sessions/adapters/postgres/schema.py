"""Whether the database has every table that this process asks for."""

from importlib.resources import files

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from sessions.adapters.postgres.transaction import begun
from sessions.errors import RecordsUnavailable

_NOT_YET = "lacks tables that this version needs: run `drillyard db migrate`"


def newest() -> str:
    """The version that the migrations lead to; versions are numbered, so that a later one is greater."""
    steps = files("sessions").joinpath("migrations", "versions").iterdir()
    return max(step.name.partition("_")[0] for step in steps if step.name.endswith(".py"))


async def schema_trouble(engine: AsyncEngine) -> str | None:
    """Why this process cannot work with the database as it is now, or None. A newer one will do: it grows first."""
    try:
        async with begun(engine) as transaction:
            table = await transaction.one(text("select to_regclass('alembic_version')"))
            if table is None or table[0] is None:
                return _NOT_YET
            row = await transaction.one(text("select max(version_num) from alembic_version"))
    except RecordsUnavailable as error:
        return str(error)
    return None if row is not None and row[0] is not None and row[0] >= newest() else _NOT_YET
