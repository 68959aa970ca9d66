"""What the stores of settings and of the audit trail promise, in dictionaries and on Postgres."""

from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.domain.moderation.policy import INHERITED, OwnPolicy
from gateway.moderation_ports import Doer
from tests.support.moderation_stores import INSTRUCTOR, Stores, kept_list, people_and_scenarios, postgres_stores, says
from tests.support.records_world import ELSEWHERE, HERE, NOON

SOME = OwnPolicy(user_flag=0.25, knowledge_block=1.0, mask="〔略〕")


async def test_what_is_set_comes_back_and_replaces_what_was(stores: Stores) -> None:
    assert await stores.policies.of(HERE.tenant) == INHERITED
    for own in (SOME, OwnPolicy(user_block=0.5), INHERITED):
        await stores.policies.change(HERE.tenant, own, INSTRUCTOR)
        assert await stores.policies.of(HERE.tenant) == own
        assert await stores.policies.of(ELSEWHERE.tenant) == INHERITED
    assert stores.heard == [HERE.tenant] * 3


async def test_the_trail_tells_figures_and_never_words(stores: Stores) -> None:
    await stores.policies.change(HERE.tenant, SOME, INSTRUCTOR)
    (line,) = await stores.trail.page(HERE.tenant, limit=10)
    assert (line.action, line.subject, line.actor, line.at) == (
        "settings_changed",
        str(HERE.tenant),
        HERE.instructor,
        NOON,
    )
    assert line.facts == {
        "user_flag": 0.25,
        "user_block": None,
        "knowledge_flag": None,
        "knowledge_block": 1.0,
        "mask": True,
    }


async def test_the_trail_is_read_from_its_end(stores: Stores) -> None:
    for minute in range(5):
        await stores.policies.change(HERE.tenant, SOME, Doer(HERE.instructor, NOON + timedelta(minutes=minute)))
    await stores.lists.add(kept_list(people=ELSEWHERE), says("one"))
    seen = []
    before = None
    while lines := await stores.trail.page(HERE.tenant, limit=2, before=before):
        assert len(lines) <= 2
        seen += [line.at.minute for line in lines]
        before = lines[-1].id
    assert seen == [4, 3, 2, 1, 0]
    assert [line.action for line in await stores.trail.page(ELSEWHERE.tenant, limit=10)] == ["list_created"]


@pytest.mark.postgres
async def test_what_another_version_has_set_beside_is_left_alone(database_engine: AsyncEngine) -> None:
    await people_and_scenarios(database_engine)
    stores = postgres_stores(database_engine)
    await stores.policies.change(HERE.tenant, SOME, INSTRUCTOR)
    async with database_engine.begin() as connection:
        await connection.execute(
            text("update moderation_settings set content = content - 'mask' || '{\"later\": 1}'::jsonb")
        )
    assert await stores.policies.of(HERE.tenant) == OwnPolicy(user_flag=0.25, knowledge_block=1.0)
