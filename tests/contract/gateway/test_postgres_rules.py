"""What the source of the rules promises, in dictionaries and on Postgres."""

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.adapters.postgres_rules import PostgresRules
from gateway.domain.moderation.policy import OwnPolicy
from gateway.errors import PhraseListNotFound
from gateway.moderation_ports import Doer, ListDirection, ListId, LiveList, TenantRules
from sessions.adapters.postgres.engine import postgres_engine
from sessions.errors import RecordsUnavailable
from tests.support.moderation_stores import (
    INSTRUCTOR,
    SCENARIO,
    Stores,
    kept_list,
    people_and_scenarios,
    postgres_stores,
    says,
)
from tests.support.records_world import ELSEWHERE, HERE, NOON, uuid_of

OWN = OwnPolicy(user_flag=0.25)


async def test_nothing_is_in_force_at_first(stores: Stores) -> None:
    await stores.lists.add(kept_list(), says("one"))
    assert await stores.rules.everywhere() == {}
    assert await stores.rules.of_tenant(HERE.tenant) == TenantRules()


async def test_what_is_in_force_is_told_of_every_tenant(stores: Stores) -> None:
    second = await stores.lists.add(kept_list("second", minutes=1, live=True), says("one"))
    first = await stores.lists.add(
        kept_list("first", of_scenario=SCENARIO, direction=ListDirection.INPUT), says("three")
    )
    await stores.lists.add_version(HERE.tenant, first.id, says("three"), INSTRUCTOR)
    await stores.lists.go_live(HERE.tenant, first.id, 2, INSTRUCTOR)
    over = await stores.lists.add(kept_list("over", live=True), says("four"))
    await stores.lists.archive(HERE.tenant, over.id, INSTRUCTOR)
    await stores.policies.change(HERE.tenant, OWN, INSTRUCTOR)
    await stores.policies.change(ELSEWHERE.tenant, OWN, Doer(ELSEWHERE.instructor, NOON))
    ours = TenantRules(
        (
            LiveList(first.id, 2, SCENARIO, ListDirection.INPUT),
            LiveList(second.id, 1, None, ListDirection.BOTH),
        ),
        OWN,
    )
    assert await stores.rules.everywhere() == {HERE.tenant: ours, ELSEWHERE.tenant: TenantRules(policy=OWN)}
    assert await stores.rules.of_tenant(HERE.tenant) == ours
    assert await stores.rules.of_tenant(uuid_of("nobody")) == TenantRules()


async def test_every_change_is_told_and_nothing_else_is_new(stores: Stores) -> None:
    kept = await stores.lists.add(kept_list(live=True), says("one"))
    told = [await stores.rules.everywhere()]
    for changing in (
        stores.lists.add_version(HERE.tenant, kept.id, says("two"), INSTRUCTOR),
        stores.lists.go_live(HERE.tenant, kept.id, 2, INSTRUCTOR),
        stores.lists.go_live(HERE.tenant, kept.id, None, INSTRUCTOR),
        stores.policies.change(HERE.tenant, OWN, INSTRUCTOR),
        stores.lists.go_live(HERE.tenant, kept.id, 1, INSTRUCTOR),
        stores.lists.archive(HERE.tenant, kept.id, INSTRUCTOR),
    ):
        await changing
        told.append(await stores.rules.everywhere())
    live = [LiveList(kept.id, version, None, ListDirection.BOTH) for version in (1, 2)]
    assert told == [
        {HERE.tenant: TenantRules((live[0],))},
        {HERE.tenant: TenantRules((live[0],))},
        {HERE.tenant: TenantRules((live[1],))},
        {},
        {HERE.tenant: TenantRules(policy=OWN)},
        {HERE.tenant: TenantRules((live[0],), OWN)},
        {HERE.tenant: TenantRules(policy=OWN)},
    ]


@pytest.mark.postgres
async def test_what_is_not_new_is_not_read_again(database_engine: AsyncEngine) -> None:
    await people_and_scenarios(database_engine)
    stores = postgres_stores(database_engine)
    kept = await stores.lists.add(kept_list(live=True), says("one"))
    first = await stores.rules.everywhere()
    assert await stores.rules.everywhere() is first
    await stores.lists.add_version(HERE.tenant, kept.id, says("two"), INSTRUCTOR)
    assert await stores.rules.everywhere() is first
    await stores.lists.go_live(HERE.tenant, kept.id, 2, INSTRUCTOR)
    assert await stores.rules.everywhere() is not first


async def test_what_a_list_says_is_read_by_its_version(stores: Stores) -> None:
    kept = await stores.lists.add(kept_list(live=True), says("one", allowed=("two",)))
    (live,) = (await stores.rules.of_tenant(HERE.tenant)).lists
    version = await stores.lists.version(HERE.tenant, kept.id, 1)
    assert version is not None
    assert await stores.rules.phrases(HERE.tenant, live) == version.phrases


@pytest.mark.parametrize(
    ("tenant", "list_id", "version"),
    [
        (HERE.tenant, kept_list().id, 2),
        (HERE.tenant, ListId(uuid_of("no list")), 1),
        (ELSEWHERE.tenant, kept_list().id, 1),
    ],
)
async def test_what_is_not_there_says_nothing(stores: Stores, tenant: object, list_id: ListId, version: int) -> None:
    await stores.lists.add(kept_list(live=True), says("one"))
    with pytest.raises(PhraseListNotFound):
        await stores.rules.phrases(tenant, LiveList(list_id, version, None, ListDirection.BOTH))  # type: ignore[arg-type]


@pytest.mark.postgres
async def test_a_database_that_is_away_is_told_as_that() -> None:
    engine = postgres_engine("postgresql://nobody@127.0.0.1:1/nothing")
    with pytest.raises(RecordsUnavailable):
        await PostgresRules(engine=engine).everywhere()
    await engine.dispose()
