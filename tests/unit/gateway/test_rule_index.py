"""Which rules are known to be in force, while they change here and elsewhere and the database comes and goes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from gateway.adapters.memory_moderation import ModerationBook
from gateway.domain.moderation.policy import OwnPolicy
from gateway.moderation_ports import TenantRules
from gateway.rule_index import RuleIndex
from gateway.wiring.background import background
from sessions.errors import ModerationUnavailable
from tests.support.eventually import eventually
from tests.support.moderation_stores import INSTRUCTOR, Stores, kept_list, moderation_book, says, stores_on
from tests.support.records_world import ELSEWHERE, HERE
from tests.support.rule_source import RuledSource

STRICT = OwnPolicy(user_block=0.1)
NEVER_S = 1000.0


@dataclass
class World:
    book: ModerationBook
    stores: Stores
    source: RuledSource
    index: RuleIndex
    now: float = 0.0
    news: list[None] = field(default_factory=list)

    async def versions(self) -> list[int]:
        return [each.version for each in (await self.index.of(HERE.tenant)).lists]


@asynccontextmanager
async def world(*, every_s: float = NEVER_S, wait_s: float = 5.0, runs: bool = True) -> AsyncIterator[World]:
    """Changes of the stores are told to the index; those of the book are another process's."""

    async def told(tenant: object) -> None:
        assert tenant == HERE.tenant
        await made.index.changed(HERE.tenant)

    book = moderation_book(told)
    stores = stores_on(book)
    source = RuledSource(stores.rules)
    index = RuleIndex(source=source, clock=lambda: made.now, every_s=every_s, wait_s=wait_s)
    made = World(book, stores, source, index)
    index.news = lambda: made.news.append(None)
    async with background(*([index.run()] if runs else [])):
        yield made


async def test_a_tenant_without_rules_waits_for_the_first_answer_alone() -> None:
    async with world() as here:
        assert await here.index.of(HERE.tenant) == TenantRules()
        here.source.away = True
        assert await here.index.of(ELSEWHERE.tenant) == TenantRules()
        assert here.source.looks == 1


async def test_what_this_process_changes_is_in_force_when_the_change_returns() -> None:
    async with world() as here:
        assert await here.versions() == []
        kept = await here.stores.lists.add(kept_list(live=True), says("one"))
        assert here.index.known(HERE.tenant).lists[0].version == 1
        await here.stores.lists.add_version(HERE.tenant, kept.id, says("two"), INSTRUCTOR)
        await here.stores.lists.go_live(HERE.tenant, kept.id, 2, INSTRUCTOR)
        assert here.index.known(HERE.tenant).lists[0].version == 2
        await here.stores.policies.change(HERE.tenant, STRICT, INSTRUCTOR)
        assert here.index.known(HERE.tenant).policy == STRICT


async def test_an_answer_that_crosses_a_change_does_not_count_for_it() -> None:
    async with world() as here:
        assert await here.versions() == []
        here.source.open.clear()
        changing = asyncio.create_task(here.stores.lists.add(kept_list(live=True), says("one")))
        await eventually(lambda: here.source.looks == 2)  # its answer has list 1 in it, and stands still
        (kept,) = (await here.stores.lists.page(HERE.tenant, limit=2)).items
        again = asyncio.create_task(here.stores.lists.archive(HERE.tenant, kept.id, INSTRUCTOR))
        await asyncio.sleep(0)
        crossing, here.source.open = here.source.open, asyncio.Event()
        crossing.set()
        await eventually(lambda: here.source.looks == 3)
        turn = asyncio.create_task(here.versions())
        await asyncio.sleep(0.01)
        assert not turn.done()
        here.source.open.set()
        assert await turn == []
        await asyncio.gather(changing, again)


async def test_what_another_process_changes_is_read_soon() -> None:
    async with world(every_s=0.01) as here:
        assert await here.versions() == []
        here.book.policies[ELSEWHERE.tenant] = STRICT
        await eventually(lambda: here.index.known(ELSEWHERE.tenant).policy == STRICT)
        assert len(here.news) == 1


async def test_an_answer_like_the_last_one_is_no_news() -> None:
    async with world(every_s=0.005) as here:
        await here.stores.policies.change(HERE.tenant, STRICT, INSTRUCTOR)
        await eventually(lambda: here.source.looks > 4)
        assert len(here.news) == 1


async def test_what_is_known_stays_in_force_while_the_database_is_away_and_its_age_is_told() -> None:
    async with world(every_s=0.01) as here:
        await here.stores.lists.add(kept_list(live=True), says("one"))
        here.source.away = True
        await eventually(lambda: here.index.failures > 0)
        here.now += 40
        assert await here.versions() == [1]
        assert here.index.age_s == pytest.approx(40)
        here.source.away = False
        await eventually(lambda: here.index.age_s == 0)


async def test_before_the_first_answer_nobody_can_tell_and_nothing_goes_on() -> None:
    async with world() as here:
        here.source.away = True
        for _ in range(2):
            with pytest.raises(ModerationUnavailable):
                await here.index.of(HERE.tenant)
        assert here.index.failures > 0
        assert here.index.age_s == 0
        here.source.away = False
        assert await here.versions() == []


async def test_a_change_that_cannot_be_read_stops_that_tenant_alone_until_it_can() -> None:
    async with world() as here:
        assert await here.versions() == []
        here.source.away = True
        await here.stores.lists.add(kept_list(live=True), says("one"))
        with pytest.raises(ModerationUnavailable):
            await here.index.of(HERE.tenant)
        assert await here.index.of(ELSEWHERE.tenant) == TenantRules()
        here.source.away = False
        assert await here.versions() == [1]


async def test_many_who_wait_for_a_database_that_is_away_ask_it_together() -> None:
    async with world() as here:
        here.source.away = True
        answers = await asyncio.gather(*(here.index.of(HERE.tenant) for _ in range(50)), return_exceptions=True)
        assert all(isinstance(answer, ModerationUnavailable) for answer in answers)
        assert here.source.looks <= 3


async def test_a_database_that_hangs_is_not_waited_for_without_end() -> None:
    async with world(wait_s=0.05) as here:
        here.source.open.clear()
        with pytest.raises(ModerationUnavailable):
            await here.index.of(HERE.tenant)
