"""The wall between tenants holds whatever is asked of the database, on the real one."""

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import TextClause, make_url, text
from sqlalchemy.exc import ProgrammingError
from sqlalchemy.ext.asyncio import AsyncEngine

from router.fleet.adapters import tables as fleet_tables
from sessions.adapters.postgres.engine import postgres_engine
from sessions.adapters.postgres.records import PostgresRecords
from sessions.adapters.postgres.transaction import begun
from sessions.domain.session import Session
from sessions.migrations import upgrade
from sessions.tenant_wall import EVERY_TENANT
from tests.support.postgres_fixture import PostgresTemplate, libpq_url
from tests.support.records_world import ELSEWHERE, HERE, People, scenario, session, settle, turn

TENANT_TABLES = text(
    "select table_name from information_schema.columns where table_schema = 'public' and column_name = 'tenant_id'"
)
UNWALLED = text(
    "select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace"
    " and not (relrowsecurity and relforcerowsecurity)"
)
WAITING = text("select count(*) from pg_locks where not granted")
INSECURE = text("insert into tenants (id, slug, name, created_at) values (:id, 'x', 'x', now())")


@pytest.fixture
async def two_tenants(database_engine: AsyncEngine) -> AsyncEngine:
    """Each with a scenario, a session of it and a turn."""
    await settle(database_engine)
    records = PostgresRecords(engine=database_engine)
    for people, story in ((HERE, "renewal"), (ELSEWHERE, "renewal elsewhere")):
        async with records.begin(people.tenant) as work:
            await work.scenarios.add(scenario(story, people))
            await work.sessions.add(run_of(people), None)
            await work.turns.add(turn(1, of=run_of(people)))
    return database_engine


def run_of(people: People) -> Session:
    return session(f"run of {people.tenant}", people)


async def seen(engine: AsyncEngine, statement: TextClause, *, of: UUID | None) -> list[UUID]:
    async with begun(engine, of=of) as running:
        return [row[0] for row in await running.all(statement)]


@pytest.mark.parametrize("table", ["sessions", "turns", "scenarios", "scenario_versions", "accounts"])
async def test_a_statement_that_asks_for_everything_gets_its_tenants_rows(two_tenants: AsyncEngine, table: str) -> None:
    everything = text(f"select distinct tenant_id from {table}")  # noqa: S608  the names stand above
    assert await seen(two_tenants, everything, of=HERE.tenant) == [HERE.tenant]
    assert await seen(two_tenants, everything, of=ELSEWHERE.tenant) == [ELSEWHERE.tenant]
    assert await seen(two_tenants, everything, of=None) == []
    async with begun(two_tenants, side=EVERY_TENANT) as running:
        assert len(await running.all(everything)) == 2


async def test_even_the_tenants_do_not_see_each_other(two_tenants: AsyncEngine) -> None:
    assert await seen(two_tenants, text("select id from tenants"), of=HERE.tenant) == [HERE.tenant]


@pytest.mark.parametrize(
    "statement",
    [
        text("update turns set reply = 'x' returning tenant_id"),
        text("delete from turns returning tenant_id"),
    ],
    ids=["update", "delete"],
)
async def test_what_is_changed_everywhere_is_changed_in_one_tenant(
    two_tenants: AsyncEngine, statement: TextClause
) -> None:
    assert await seen(two_tenants, statement, of=HERE.tenant) == [HERE.tenant]


async def test_nothing_is_written_into_another_tenant(two_tenants: AsyncEngine) -> None:
    moving = text("update scenarios set tenant_id = :other").bindparams(other=ELSEWHERE.tenant)
    for statement in (moving, INSECURE.bindparams(id=UUID(int=7))):
        with pytest.raises(ProgrammingError, match="row-level security"):
            await seen(two_tenants, statement, of=HERE.tenant)


async def test_the_turns_of_another_tenants_session_are_not_there(two_tenants: AsyncEngine) -> None:
    """Turns are asked for by their session alone."""
    theirs = run_of(ELSEWHERE).id
    records = PostgresRecords(engine=two_tenants)
    async with records.begin(HERE.tenant) as work:
        assert await work.turns.all(theirs) == []
    async with records.begin(ELSEWHERE.tenant) as work:
        assert len(await work.turns.all(theirs)) == 1


async def test_a_line_remembers_no_tenant(two_tenants: AsyncEngine) -> None:
    single = postgres_engine(two_tenants.url.render_as_string(hide_password=False), pool_size=1)
    everything = text("select tenant_id from sessions")
    try:
        for _ in range(3):
            assert await seen(single, everything, of=HERE.tenant) == [HERE.tenant]
            assert await seen(single, everything, of=None) == []
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await seen(single, text("select pg_sleep(5)"), of=HERE.tenant)
            assert await seen(single, everything, of=None) == []
    finally:
        await single.dispose()


async def test_every_table_that_names_a_tenant_stands_behind_the_wall(database_engine: AsyncEngine) -> None:
    """And no other needs to: the fleet serves all tenants alike."""
    async with database_engine.connect() as connection:
        named = {row[0] for row in await connection.execute(TENANT_TABLES)}
        unwalled = {row[0] for row in await connection.execute(UNWALLED)}
    assert "turns" in named
    assert not unwalled & named
    assert unwalled == {"alembic_version", *fleet_tables.metadata.tables}


async def test_a_row_that_somebody_has_just_changed_is_looked_at_again(two_tenants: AsyncEngine) -> None:
    """For that Postgres reads all that the policy names, which must be no error whatever it is."""
    changing = text("update turns set reply = reply || 'x' returning tenant_id")
    async with begun(two_tenants, side=EVERY_TENANT) as first:
        assert len(await first.all(changing)) == 2
        async with asyncio.TaskGroup() as waiting:
            second = waiting.create_task(_changed(two_tenants, changing))
            async with two_tenants.connect() as observer:
                while not (await observer.execute(WAITING)).scalar():  # noqa: ASYNC110  the database tells nobody
                    await asyncio.sleep(0.01)
            await first.changed(text("commit"))
    assert second.result() == 2


async def _changed(engine: AsyncEngine, statement: TextClause) -> int:
    async with begun(engine, side=EVERY_TENANT) as running:
        return len(await running.all(statement))


async def test_an_index_is_still_used(two_tenants: AsyncEngine) -> None:
    async with begun(two_tenants, of=HERE.tenant) as running:
        await running.changed(text("set local enable_seqscan = off"))
        wanted = text("explain select * from turns where session_id = :session and number > 3").bindparams(
            session=run_of(HERE).id
        )
        plan = "\n".join(row[0] for row in await running.all(wanted))
    assert "Index Cond" in plan
    assert "session_id" in plan


@pytest.fixture
async def plain_owner(postgres_template: PostgresTemplate) -> AsyncIterator[AsyncEngine]:
    """A database whose login owns it and may neither create roles nor pass walls."""
    with postgres_template.empty() as url:
        name = make_url(url).database or ""
        login = f"owner_{name}"
        with psycopg.connect(libpq_url(url), autocommit=True) as connection:
            quoted = sql.Identifier(login)
            connection.execute(sql.SQL("create role {} login password {}").format(quoted, sql.Literal(login)))
            connection.execute(sql.SQL("alter schema public owner to {}").format(quoted))
        own = make_url(url).set(username=login, password=login).render_as_string(hide_password=False)
        await asyncio.to_thread(upgrade, own)
        engine = postgres_engine(own)
        yield engine
        await engine.dispose()
        with psycopg.connect(libpq_url(url), autocommit=True) as connection:
            connection.execute(sql.SQL("reassign owned by {} to current_user").format(quoted))
            connection.execute(sql.SQL("drop owned by {}").format(quoted))
            connection.execute(sql.SQL("drop role {}").format(quoted))


async def test_an_owner_that_may_make_no_role_stands_behind_it_too(plain_owner: AsyncEngine) -> None:
    async def write(people: People) -> None:
        statement = text("insert into tenants (id, slug, name, created_at) values (:id, :slug, 'x', now())")
        async with begun(plain_owner, of=people.tenant) as running:
            await running.changed(statement.bindparams(id=people.tenant, slug=str(people.tenant)))

    await write(HERE)
    await write(ELSEWHERE)
    assert await seen(plain_owner, text("select id from tenants"), of=HERE.tenant) == [HERE.tenant]
    assert await seen(plain_owner, text("select id from tenants"), of=None) == []
