"""Rules come into force in every process that moderates, on a real Postgres."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.domain.moderation.policy import USUAL, OwnPolicy
from gateway.moderation_ports import ListId
from gateway.wiring.moderation import Moderating
from sessions.domain.moderation import BlockReason
from sessions.domain.scenario import ScenarioId
from sessions.domain.viewer import TenantId
from tests.support.moderating_house import finds, moderating_process
from tests.support.moderation_stores import INSTRUCTOR, SCENARIO, kept_list, people_and_scenarios, says
from tests.support.records_world import ELSEWHERE, HERE

pytestmark = pytest.mark.postgres

TENANT, RENEWAL = TenantId(HERE.tenant), ScenarioId(SCENARIO)
SOON_S = 2.0


@pytest.fixture
async def url(database_engine: AsyncEngine, database_url: str) -> str:
    await people_and_scenarios(database_engine)
    return database_url


@pytest.fixture
async def processes(url: str) -> AsyncIterator[tuple[Moderating, Moderating]]:
    async with moderating_process(url) as one, moderating_process(url) as other:
        yield one, other


async def soon(holds: Callable[[], Awaitable[bool]]) -> None:
    deadline = time.monotonic() + SOON_S
    while not await holds():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.005)


async def until_met(process: Moderating, text: str, *, wanted: bool = True) -> None:
    """Until the process meets the text with a rule, or with none any more."""

    async def is_so() -> bool:
        return finds((await process.keeper.live(HERE.tenant, SCENARIO)).output, text) == wanted

    await soon(is_so)


async def test_what_one_process_changes_is_in_force_there_at_once_and_soon_in_the_other(
    processes: tuple[Moderating, Moderating],
) -> None:
    one, other = processes
    for each in processes:
        assert not finds((await each.keeper.live(HERE.tenant, None)).output, "old")
    kept = await one.stores.lists.add(kept_list(live=True, of_scenario=SCENARIO), says("old"))
    assert finds((await one.keeper.live(HERE.tenant, SCENARIO)).output, "old")
    await until_met(other, "old")
    await other.stores.lists.add_version(HERE.tenant, kept.id, says("new"), INSTRUCTOR)
    await other.stores.lists.go_live(HERE.tenant, kept.id, 2, INSTRUCTOR)
    assert finds((await other.keeper.live(HERE.tenant, SCENARIO)).output, "new")
    await until_met(one, "new")
    await one.stores.lists.archive(HERE.tenant, kept.id, INSTRUCTOR)
    assert not finds((await one.keeper.live(HERE.tenant, SCENARIO)).output, "new")
    await until_met(other, "new", wanted=False)
    assert not finds((await other.keeper.live(ELSEWHERE.tenant, None)).output, "old")


async def test_a_policy_follows_too(processes: tuple[Moderating, Moderating]) -> None:
    one, other = processes
    await one.stores.policies.change(HERE.tenant, OwnPolicy(mask="~"), INSTRUCTOR)
    assert (await one.keeper.live(HERE.tenant, None)).policy.mask == "~"

    async def follows() -> bool:
        return (await other.keeper.live(HERE.tenant, None)).policy.mask == "~"

    await soon(follows)
    assert (await other.keeper.live(ELSEWHERE.tenant, None)).policy == USUAL


async def test_a_process_that_starts_later_knows_them_from_its_first_turn_on(url: str) -> None:
    async with moderating_process(url) as one:
        await one.stores.lists.add(kept_list(live=True), says("old"))
    async with moderating_process(url, refresh_s=60) as other:
        rules = await other.desk.rules(TENANT, RENEWAL)
        assert (await rules.message("an OLD one")).blocked is BlockReason.BANNED_PHRASE


WORDS = ("one", "two", "three", "four")


async def blocked_by(process: Moderating) -> tuple[int, str]:
    """A reply that streams for a while: the version that stopped it, and what had left by then."""
    rules = await process.desk.rules(TENANT, RENEWAL)
    said = ""
    async with rules.reply() as check:
        for letter in " ".join(WORDS) + ".":
            said += check.feed(letter)
            await asyncio.sleep(0.001)
        said += await check.finish()
    (mark,) = check.judgement.marks
    return mark.list_version, said


async def test_turns_keep_the_rules_they_began_with_and_none_meets_neither(url: str) -> None:
    """Each version bans one of the words, and every reply holds them all."""
    async with moderating_process(url) as process:
        lists = process.stores.lists
        kept = await lists.add(kept_list(live=True), says(WORDS[0]))
        for word in WORDS[1:]:
            await lists.add_version(HERE.tenant, kept.id, says(word), INSTRUCTOR)
        ended: list[tuple[int, int, str]] = []
        answered = 1
        """The version that was put in force for certain."""

        async def trainee() -> None:
            while len(ended) < 100 or answered < len(WORDS):
                at_start = answered
                ended.append((at_start, *await blocked_by(process)))

        async with asyncio.TaskGroup() as group:
            for _ in range(20):
                group.create_task(trainee())
            for version in range(2, len(WORDS) + 1):
                await asyncio.sleep(0.03)
                await lists.go_live(HERE.tenant, kept.id, version, INSTRUCTOR)
                answered = version
        for at_start, version, said in ended:
            assert version in (at_start, at_start + 1)
            assert said == "".join(f"{word} " for word in WORDS[: version - 1])
        assert {version for _, version, _ in ended} == {1, 2, 3, 4}


async def test_a_turn_that_begins_after_the_answer_meets_the_new_rules_every_time(url: str) -> None:
    async with moderating_process(url) as process:
        lists = process.stores.lists
        kept = await lists.add(kept_list(live=True), says("text 1"))
        for version in range(2, 8):
            running = await process.desk.rules(TENANT, RENEWAL)
            await lists.add_version(HERE.tenant, kept.id, says(f"text {version}"), INSTRUCTOR)
            await lists.go_live(HERE.tenant, kept.id, version, INSTRUCTOR)
            found = await asyncio.gather(*(blocks(process, f"text {version}") for _ in range(5)))
            assert all(found)
            assert (await running.message(f"text {version}")).blocked is None
            assert (await running.message(f"text {version - 1}")).blocked is BlockReason.BANNED_PHRASE


async def blocks(process: Moderating, text: str) -> bool:
    rules = await process.desk.rules(TENANT, RENEWAL)
    return (await rules.message(text)).blocked is BlockReason.BANNED_PHRASE


async def test_many_processes_that_change_one_list_agree_in_the_end(url: str) -> None:
    async with AsyncExitStack() as stack:
        processes = [await stack.enter_async_context(moderating_process(url)) for _ in range(3)]
        kept = await processes[0].stores.lists.add(kept_list(live=True), says("text 1"))

        async def change(process: Moderating, found: ListId) -> None:
            for _ in range(4):
                written = await process.stores.lists.add_version(HERE.tenant, found, says("text"), INSTRUCTOR)
                await process.stores.lists.go_live(HERE.tenant, found, written.version, INSTRUCTOR)

        await asyncio.gather(*(change(process, kept.id) for process in processes))
        (live,) = (await processes[0].stores.source.of_tenant(HERE.tenant)).lists

        async def agree() -> bool:
            return {await version_in_force(process) for process in processes} == {live.version}

        await soon(agree)
        lines = await processes[0].stores.trail.page(HERE.tenant, limit=100)
        assert [line.action for line in lines].count("version_added") == 12


async def version_in_force(process: Moderating) -> int:
    return (await process.keeper.live(HERE.tenant, None)).output.rules[0].list_version
