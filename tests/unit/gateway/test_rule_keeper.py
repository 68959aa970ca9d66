"""Which rules a turn meets: by tenant, scenario and direction, before, while and after they change."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from gateway.adapters.memory_moderation import ModerationBook
from gateway.domain.moderation.injection import Thresholds
from gateway.domain.moderation.policy import OwnPolicy, Policy
from gateway.domain.moderation.release import moderate
from gateway.moderation_ports import ListDirection as For
from gateway.moderation_ports import Live
from gateway.phrase_books import PhraseBooks
from gateway.rule_index import RuleIndex
from gateway.rule_keeper import KeptRules
from gateway.wiring.background import background
from tests.support.eventually import eventually
from tests.support.moderation_stores import INSTRUCTOR, SCENARIO, Stores, kept_list, moderation_book, says, stores_on
from tests.support.records_world import ELSEWHERE, HERE, uuid_of
from tests.support.rule_source import RuledSource

USUAL = Policy(Thresholds(0.2, 0.3), Thresholds(0.4, 0.5), "#")
OTHER_SCENARIO = uuid_of("another scenario")


@dataclass
class World:
    book: ModerationBook
    stores: Stores
    source: RuledSource
    keeper: KeptRules

    async def live(self, scenario: UUID | None = None) -> Live:
        return await self.keeper.live(HERE.tenant, scenario)

    async def met(self, text: str, scenario: UUID | None = None) -> str:
        """In which directions the text is found."""
        live = await self.live(scenario)
        books = {"input": live.input, "output": live.output}
        return " ".join(name for name, book in books.items() if moderate(text, book).findings)


@asynccontextmanager
async def world(*, every_s: float = 0.01) -> AsyncIterator[World]:
    async def told(tenant: UUID) -> None:
        await index.changed(tenant)

    book = moderation_book(told)
    source = RuledSource(stores_on(book).rules)
    index = RuleIndex(source=source, clock=lambda: 0.0, every_s=every_s, wait_s=5)
    books = PhraseBooks(source=source, clock=lambda: 0.0, most_phrases=10_000, wait_s=5)
    keeper = KeptRules(index=index, books=books, usual=USUAL)
    async with background(index.run(), books.run()):
        yield World(book, stores_on(book), source, keeper)


async def test_lists_hold_by_scenario_and_direction() -> None:
    async with world() as here:
        add = here.stores.lists.add
        await add(kept_list("both", live=True), says("everywhere"))
        await add(kept_list("input", live=True, direction=For.INPUT), says("heard"))
        await add(kept_list("output", live=True, direction=For.OUTPUT), says("said"))
        await add(kept_list("scenario", live=True, of_scenario=SCENARIO), says("here"))
        await add(kept_list("waiting"), says("not yet"))
        await add(kept_list("theirs", ELSEWHERE, live=True), says("theirs"))
        for scenario in (None, SCENARIO, OTHER_SCENARIO):
            assert await here.met("everywhere", scenario) == "input output"
            assert await here.met("heard", scenario) == "input"
            assert await here.met("said", scenario) == "output"
            assert await here.met("here", scenario) == ("input output" if scenario == SCENARIO else "")
            assert await here.met("not yet", scenario) == ""
            assert await here.met("theirs", scenario) == ""


async def test_equal_sets_share_one_book() -> None:
    async with world() as here:
        await here.stores.lists.add(kept_list(live=True), says("one"))
        await here.stores.lists.add(kept_list("scenario", live=True, of_scenario=SCENARIO), says("two"))
        plain, other, own = await here.live(), await here.live(OTHER_SCENARIO), await here.live(SCENARIO)
        assert plain.input is plain.output is other.input is other.output
        assert own.input is own.output is not plain.input


async def test_a_tenants_policy_stands_on_that_of_the_installation() -> None:
    async with world() as here:
        assert (await here.live()).policy == USUAL
        await here.stores.policies.change(HERE.tenant, OwnPolicy(user_block=0.9, mask="~"), INSTRUCTOR)
        assert (await here.live()).policy == Policy(Thresholds(0.2, 0.9), USUAL.knowledge, "~")
        assert (await here.keeper.live(ELSEWHERE.tenant, None)).policy == USUAL


async def test_a_turn_after_the_answer_meets_the_new_rules_though_they_take_long_to_make() -> None:
    async with world(every_s=100) as here:
        kept = await here.stores.lists.add(kept_list(live=True), says("old"))
        running = await here.live()
        await here.stores.lists.add_version(HERE.tenant, kept.id, says("new"), INSTRUCTOR)
        here.source.readable.clear()
        await here.stores.lists.go_live(HERE.tenant, kept.id, 2, INSTRUCTOR)
        turn = asyncio.create_task(here.met("new"))
        await eventually(lambda: len(here.source.read) == 2)
        assert not turn.done()
        here.source.readable.set()
        assert await turn == "input output"
        assert await here.met("old") == ""
        assert moderate("old", running.output).findings


async def test_changed_rules_of_who_asked_lately_are_made_ready_before_they_are_asked_for() -> None:
    async with world() as here:
        kept = await here.stores.lists.add(kept_list(live=True), says("old"))
        await here.live(SCENARIO)
        await here.stores.lists.add_version(HERE.tenant, kept.id, says("new"), INSTRUCTOR)
        assert [each.version for each in here.source.read] == [1]
        await here.stores.lists.go_live(HERE.tenant, kept.id, 2, INSTRUCTOR)
        await eventually(lambda: [each.version for each in here.source.read] == [1, 2])


async def test_rules_that_are_expected_are_made_ready() -> None:
    async with world() as here:
        await here.stores.lists.add(kept_list(live=True), says("one"))
        here.keeper.expect(ELSEWHERE.tenant, None)
        here.keeper.expect(HERE.tenant, SCENARIO)
        await eventually(lambda: here.keeper.gauges()["moderation_books"] == 1)
        here.source.away = True
        assert await here.met("one", SCENARIO) == "input output"


async def test_what_is_remembered_of_who_asked_is_bounded() -> None:
    async with world() as here:
        await here.stores.lists.add(kept_list(live=True), says("one"))
        for n in range(300):
            here.keeper.expect(HERE.tenant, uuid_of(str(n)))
        assert len(here.keeper._expected) == 256


async def test_figures_tell_of_the_index_and_the_books() -> None:
    async with world() as here:
        await here.live()
        assert set(here.keeper.gauges()) == {
            "moderation_rules_age_seconds",
            "moderation_books",
            "moderation_phrases_ready",
        }
        assert set(here.keeper.counters()) == {
            "moderation_refresh_failures",
            "moderation_books_made",
            "moderation_books_failed",
            "moderation_book_seconds",
        }
