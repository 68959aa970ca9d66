"""The migrated schema is the one that the statements expect, and nothing in it crosses the tenants' wall."""

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, MetaData, insert, inspect, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from router.fleet.adapters import tables as fleet_tables
from sessions.adapters.postgres import knowledge_tables, moderation_tables
from sessions.adapters.postgres.tables import metadata, scenarios, sessions, turns
from tests.support.records_world import ELSEWHERE, HERE, NOON, settle, uuid_of

pytestmark = pytest.mark.postgres

TABLES = {**metadata.tables, **fleet_tables.metadata.tables}


def _differences(connection: Connection) -> list[object]:
    context = MigrationContext.configure(connection, opts={"compare_type": True})
    together = MetaData()
    for table in TABLES.values():
        table.to_metadata(together)
    return list(compare_metadata(context, together))


def _keys(connection: Connection) -> dict[str, tuple[str | None, list[str]]]:
    found = inspect(connection)
    return {
        name: (found.get_pk_constraint(name)["name"], found.get_pk_constraint(name)["constrained_columns"])
        for name in TABLES
    }


async def test_the_migrated_schema_is_that_of_the_tables(database_engine: AsyncEngine) -> None:
    assert knowledge_tables.knowledge_bases.metadata is moderation_tables.phrase_lists.metadata is metadata
    async with database_engine.connect() as connection:
        assert await connection.run_sync(_differences) == []


async def test_the_comparison_sees_a_difference(database_engine: AsyncEngine) -> None:
    async with database_engine.begin() as connection:
        await connection.execute(text("alter table turns alter column reply type varchar(10)"))
        await connection.execute(text("drop index sessions_by_age"))
        assert len(await connection.run_sync(_differences)) == 2


async def test_primary_keys_are_those_of_the_tables(database_engine: AsyncEngine) -> None:
    async with database_engine.connect() as connection:
        assert await connection.run_sync(_keys) == {
            name: (str(table.primary_key.name), [column.name for column in table.primary_key])
            for name, table in TABLES.items()
        }


async def test_every_moment_has_a_time_zone(database_engine: AsyncEngine) -> None:
    async with database_engine.connect() as connection:
        naive = await connection.execute(
            text(
                "select table_name, column_name from information_schema.columns"
                " where table_schema = 'public' and data_type = 'timestamp without time zone'"
            )
        )
        assert naive.all() == []


async def test_no_row_points_into_another_tenant(database_engine: AsyncEngine) -> None:
    """Whatever a statement of ours gets wrong, the database refuses."""
    await settle(database_engine)
    scenario_row = {"id": uuid_of("s"), "tenant_id": HERE.tenant, "latest_version": 1, "created_at": NOON}
    session_row = {
        "id": uuid_of("x"),
        "tenant_id": HERE.tenant,
        "trainee_id": HERE.trainee,
        "scenario_id": uuid_of("s"),
        "scenario_version": 1,
        "scene": "",
        "opening": "",
        "state": "open",
        "version": 1,
        "turn_count": 0,
        "metadata": {},
        "created_at": NOON,
    }
    async with database_engine.begin() as connection:
        await connection.execute(insert(scenarios).values(scenario_row))
        await connection.execute(
            insert(metadata.tables["scenario_versions"]).values(
                tenant_id=HERE.tenant,
                scenario_id=uuid_of("s"),
                version=1,
                content={},
                created_by=HERE.instructor,
                created_at=NOON,
            )
        )
        await connection.execute(insert(sessions).values(session_row))
    turn_row = {
        **dict.fromkeys(("text", "reply"), ""),
        **dict.fromkeys(("text_tokens", "reply_tokens", "prompt_tokens", "cached_tokens", "completion_tokens"), 0),
        **dict.fromkeys(("queue_ms", "e2e_ms"), 0.0),
        **dict.fromkeys(("started_at", "ended_at"), NOON),
        "session_id": uuid_of("x"),
        "number": 1,
        "tenant_id": HERE.tenant,
        "state": "completed",
        "continued": False,
    }
    crossing = [
        insert(sessions).values({**session_row, "id": uuid_of("y"), "trainee_id": ELSEWHERE.trainee}),
        insert(sessions).values({**session_row, "id": uuid_of("y"), "tenant_id": ELSEWHERE.tenant}),
        insert(turns).values({**turn_row, "tenant_id": ELSEWHERE.tenant}),
    ]
    for statement in crossing:
        with pytest.raises(IntegrityError, match="fkey"):
            async with database_engine.begin() as connection:
                await connection.execute(statement)
    async with database_engine.begin() as connection:
        await connection.execute(insert(turns).values(turn_row))
