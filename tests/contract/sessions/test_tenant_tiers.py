"""What a tenant has chosen stays chosen, in memory and in Postgres."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from sessions.adapters.memory_tenant_tiers import MemoryTenantTiers
from sessions.adapters.postgres.engine import postgres_engine
from sessions.adapters.postgres.tenant_tiers import PostgresTenantTiers
from sessions.domain.tiers import Tier
from sessions.errors import RecordsUnavailable
from sessions.ports import TenantTiers
from tests.support.records_world import ELSEWHERE, HERE, settle


@pytest.fixture(params=["memory", pytest.param("postgres", marks=pytest.mark.postgres)])
async def chosen(request: pytest.FixtureRequest) -> AsyncIterator[TenantTiers]:
    if request.param == "memory":
        yield MemoryTenantTiers()
        return
    engine = postgres_engine(request.getfixturevalue("database_url"))
    await settle(engine)
    yield PostgresTenantTiers(engine=engine)
    await engine.dispose()


async def test_nothing_is_chosen_at_first(chosen: TenantTiers) -> None:
    assert await chosen.of(HERE.tenant) == {}


async def test_a_choice_stays_until_it_is_undone_and_is_the_tenants_own(chosen: TenantTiers) -> None:
    both = {Tier.FAQ: "small", Tier.ROLE_PLAY: '名 "large"/7b'}
    await chosen.change(HERE.tenant, both)
    assert await chosen.of(HERE.tenant) == both
    assert await chosen.of(ELSEWHERE.tenant) == {}
    await chosen.change(HERE.tenant, {Tier.FAQ: None, Tier.SCORING: None})
    assert await chosen.of(HERE.tenant) == {Tier.ROLE_PLAY: both[Tier.ROLE_PLAY]}
    await chosen.change(HERE.tenant, {})
    assert await chosen.of(HERE.tenant) == {Tier.ROLE_PLAY: both[Tier.ROLE_PLAY]}


async def test_changes_at_once_all_take_effect(chosen: TenantTiers) -> None:
    await asyncio.gather(*(chosen.change(HERE.tenant, {tier: f"for {tier}"}) for tier in Tier))
    assert await chosen.of(HERE.tenant) == {tier: f"for {tier}" for tier in Tier}


@pytest.mark.postgres
async def test_a_kind_of_work_that_is_not_known_is_passed_over(database_engine: AsyncEngine) -> None:
    await settle(database_engine)
    async with database_engine.begin() as connection:
        await connection.execute(text("""update tenants set tiers = '{"poetry": "x", "faq": "small"}'"""))
    assert await PostgresTenantTiers(engine=database_engine).of(HERE.tenant) == {Tier.FAQ: "small"}


@pytest.mark.postgres
async def test_without_its_tables_the_database_is_unavailable(empty_database_url: str) -> None:
    engine = postgres_engine(empty_database_url)
    with pytest.raises(RecordsUnavailable):
        await PostgresTenantTiers(engine=engine).of(HERE.tenant)
    with pytest.raises(RecordsUnavailable):
        await PostgresTenantTiers(engine=engine).change(HERE.tenant, {Tier.FAQ: "small"})
    await engine.dispose()


@pytest.mark.postgres
async def test_a_tenant_that_does_not_exist_has_chosen_nothing(database_engine: AsyncEngine) -> None:
    chosen = PostgresTenantTiers(engine=database_engine)
    await chosen.change(HERE.tenant, {Tier.FAQ: "small"})
    assert await chosen.of(HERE.tenant) == {}
