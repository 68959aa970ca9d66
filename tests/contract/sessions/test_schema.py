"""A database is used once it has every table that this process asks for."""

import pytest
from sqlalchemy import text

from sessions.adapters.postgres.engine import postgres_engine
from sessions.adapters.postgres.schema import newest, schema_trouble

pytestmark = [pytest.mark.postgres]


async def test_a_migrated_database_will_do_and_so_does_a_newer_one(database_url: str) -> None:
    engine = postgres_engine(database_url)
    assert await schema_trouble(engine) is None
    async with engine.begin() as connection:
        await connection.execute(text("update alembic_version set version_num = '9999'"))
    assert await schema_trouble(engine) is None
    await engine.dispose()


@pytest.mark.parametrize("version", ["0001", None])
async def test_an_older_one_does_not(database_url: str, version: str | None) -> None:
    engine = postgres_engine(database_url)
    async with engine.begin() as connection:
        await connection.execute(text("delete from alembic_version"))
        if version is not None:
            await connection.execute(text("insert into alembic_version values (:version)"), {"version": version})
    assert "drillyard db migrate" in str(await schema_trouble(engine))
    await engine.dispose()


async def test_an_empty_one_does_not(empty_database_url: str) -> None:
    engine = postgres_engine(empty_database_url)
    assert "drillyard db migrate" in str(await schema_trouble(engine))
    await engine.dispose()


async def test_one_that_is_away_is_told_of() -> None:
    engine = postgres_engine("postgresql://nobody:nothing@127.0.0.1:1/nowhere")
    assert "cannot be asked" in str(await schema_trouble(engine))
    await engine.dispose()


def test_versions_are_numbered() -> None:
    assert newest().isdigit()
