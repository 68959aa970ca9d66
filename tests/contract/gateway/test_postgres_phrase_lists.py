"""What the store of phrase lists promises, in dictionaries and on Postgres."""

import asyncio
import traceback
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.adapters.postgres_phrase_lists import PostgresPhraseLists
from gateway.domain.moderation.phrases import Action, Phrase, PhraseList, Severity, Spelling
from gateway.errors import PhraseListExists, PhraseListNotFound
from gateway.moderation_ports import Doer, ListDirection, ListId, ListVersion, VersionSummary
from sessions.adapters.postgres.engine import postgres_engine
from sessions.domain.page import Cursor
from sessions.errors import RecordsUnavailable, ScenarioNotFound, ValueUnstorable
from tests.support.moderation_stores import (
    INSTRUCTOR,
    SCENARIO,
    Stores,
    kept_list,
    people_and_scenarios,
    postgres_stores,
    says,
)
from tests.support.records_world import ELSEWHERE, HERE, NOON, scenario, uuid_of

LATER = Doer(HERE.instructor, NOON + timedelta(minutes=5))
EVERYTHING = PhraseList(
    "",
    0,
    (
        Phrase("r1", "保本高收益 ' \" \\ %s :x 🙂", "合规", Severity.CRITICAL, Action.MASK),
        Phrase("r 2", "free", "fraud", Severity.LOW, Action.FLAG, Spelling.LEET),
        Phrase("r3", "bao ben", "fraud", spelling=Spelling.PINYIN),
    ),
    ("free of charge", "保本"),
)
NOBODYS = ListId(uuid_of("no list"))


async def test_what_is_written_comes_back(stores: Stores) -> None:
    new = kept_list(of_scenario=SCENARIO, direction=ListDirection.OUTPUT, live=True)
    assert await stores.lists.add(new, EVERYTHING) == new
    assert await stores.lists.get(HERE.tenant, new.id) == new
    version = await stores.lists.version(HERE.tenant, new.id, 1)
    assert version is not None
    assert version.phrases == replace(EVERYTHING, name="banned", version=1)
    assert (version.list, version.version, version.created_by, version.created_at) == (new.id, 1, HERE.instructor, NOON)
    assert await stores.lists.versions(HERE.tenant, new.id) == [VersionSummary(1, 3, HERE.instructor, NOON)]
    assert await stores.lists.version(HERE.tenant, new.id, 2) is None


async def test_a_name_is_the_tenants_own_and_stays_taken(stores: Stores) -> None:
    first = await stores.lists.add(kept_list(), says("one"))
    await stores.lists.add(kept_list(people=ELSEWHERE), says("one"))
    await stores.lists.archive(HERE.tenant, first.id, INSTRUCTOR)
    with pytest.raises(PhraseListExists):
        await stores.lists.add(replace(kept_list(), id=NOBODYS), says("two"))
    assert await stores.lists.get(HERE.tenant, NOBODYS) is None
    assert await stores.lists.versions(HERE.tenant, NOBODYS) == []


async def test_a_scenario_is_the_tenants_own(stores: Stores) -> None:
    for missing in (uuid_of("no scenario"), scenario("renewal elsewhere").id):
        with pytest.raises(ScenarioNotFound):
            await stores.lists.add(kept_list(of_scenario=missing), says("one"))
    assert await stores.trail.page(HERE.tenant, limit=10) == []


async def test_versions_are_numbered_and_none_goes_live_by_itself(stores: Stores) -> None:
    new = await stores.lists.add(kept_list(live=True), says("one"))
    second = await stores.lists.add_version(HERE.tenant, new.id, says("two", "three", allowed=("four",)), LATER)
    assert (second.version, second.phrases.name, second.phrases.version) == (2, "banned", 2)
    assert await stores.lists.version(HERE.tenant, new.id, 2) == second
    assert await stores.lists.get(HERE.tenant, new.id) == replace(new, latest_version=2)
    assert [each.version for each in await stores.lists.versions(HERE.tenant, new.id)] == [2, 1]


async def test_many_who_write_at_once_take_numbers_without_gaps(stores: Stores) -> None:
    new = await stores.lists.add(kept_list(), says("first"))
    written = await asyncio.gather(
        *(stores.lists.add_version(HERE.tenant, new.id, says(f"text {n}"), LATER) for n in range(8))
    )
    assert sorted(each.version for each in written) == list(range(2, 10))
    for each in written:
        assert await stores.lists.version(HERE.tenant, new.id, each.version) == each


async def test_any_version_goes_live_and_none_may(stores: Stores) -> None:
    new = await stores.lists.add(kept_list(), says("one"))
    await stores.lists.add_version(HERE.tenant, new.id, says("two"), INSTRUCTOR)
    for version in (2, 1, None):
        live = await stores.lists.go_live(HERE.tenant, new.id, version, LATER)
        assert live == replace(new, latest_version=2, live_version=version)
        assert await stores.lists.get(HERE.tenant, new.id) == live


async def test_a_version_that_is_not_there_does_not_go_live(stores: Stores) -> None:
    new = await stores.lists.add(kept_list(live=True), says("one"))
    for version in (-1, 0, 2, 3_000_000_000):
        with pytest.raises(PhraseListNotFound):
            await stores.lists.go_live(HERE.tenant, new.id, version, LATER)
        assert await stores.lists.get(HERE.tenant, new.id) == new


async def test_an_archived_list_is_out_of_force_for_good(stores: Stores) -> None:
    new = await stores.lists.add(kept_list(live=True), says("one"))
    archived = await stores.lists.archive(HERE.tenant, new.id, LATER)
    assert archived == replace(new, live_version=None, archived_at=LATER.at)
    assert await stores.lists.archive(HERE.tenant, new.id, INSTRUCTOR) == archived
    with pytest.raises(PhraseListNotFound):
        await stores.lists.go_live(HERE.tenant, new.id, 1, LATER)
    with pytest.raises(PhraseListNotFound):
        await stores.lists.add_version(HERE.tenant, new.id, says("two"), LATER)
    assert await stores.lists.get(HERE.tenant, new.id) == archived
    assert await stores.lists.version(HERE.tenant, new.id, 1) is not None


async def test_other_tenants_see_and_change_nothing(stores: Stores) -> None:
    new = await stores.lists.add(kept_list(live=True), says("one"))
    other, lists = ELSEWHERE.tenant, stores.lists
    assert await lists.get(other, new.id) is None
    assert await lists.version(other, new.id, 1) is None
    assert await lists.versions(other, new.id) == []
    assert (await lists.page(other, limit=10)).items == ()
    for changing in (
        lists.go_live(other, new.id, None, INSTRUCTOR),
        lists.archive(other, new.id, INSTRUCTOR),
        lists.add_version(other, new.id, says("two"), INSTRUCTOR),
    ):
        with pytest.raises(PhraseListNotFound):
            await changing
    assert await lists.get(HERE.tenant, new.id) == new
    assert await stores.trail.page(other, limit=10) == []


async def test_pages_go_from_the_newest_to_the_oldest(stores: Stores) -> None:
    made = [await stores.lists.add(kept_list(f"list {n}", minutes=n // 2), says("one")) for n in range(5)]
    await stores.lists.archive(HERE.tenant, made[1].id, LATER)
    newest_first = sorted(made, key=lambda each: (each.created_at, each.id), reverse=True)
    seen = []
    after: Cursor | None = None
    for _ in range(3):
        page = await stores.lists.page(HERE.tenant, limit=2, after=after)
        seen += [each.id for each in page.items]
        after = page.next
    assert seen == [each.id for each in newest_first]
    assert after is None


async def test_every_change_leaves_one_line_and_tells_whose_rules_they_are(stores: Stores) -> None:
    new = await stores.lists.add(kept_list(of_scenario=SCENARIO, live=True), says("one", allowed=("two",)))
    await stores.lists.add_version(HERE.tenant, new.id, says("three", "four"), LATER)
    await stores.lists.go_live(HERE.tenant, new.id, 2, LATER)
    await stores.lists.go_live(HERE.tenant, new.id, 2, LATER)
    await stores.lists.archive(HERE.tenant, new.id, LATER)
    await stores.lists.archive(HERE.tenant, new.id, LATER)
    lines = await stores.trail.page(HERE.tenant, limit=10)
    assert [(line.action, line.facts) for line in lines] == [
        ("list_archived", {"before": 2}),
        ("list_live", {"version": 2, "before": 1}),
        ("version_added", {"version": 2, "phrases": 2, "allowed": 0}),
        (
            "list_created",
            {"phrases": 1, "allowed": 1, "direction": "both", "scenario": str(SCENARIO), "live_version": 1},
        ),
    ]
    assert {line.subject for line in lines} == {str(new.id)}
    assert {line.actor for line in lines} == {HERE.instructor}
    assert [line.at for line in lines] == [LATER.at, LATER.at, LATER.at, NOON]
    assert set(stores.heard) == {HERE.tenant}
    assert len(stores.heard) >= len(lines)


@pytest.mark.postgres
async def test_a_change_whose_line_cannot_be_written_is_none(database_engine: AsyncEngine) -> None:
    await people_and_scenarios(database_engine)
    stores = postgres_stores(database_engine)
    new = await stores.lists.add(kept_list(live=True), says("one"))
    nowhere = Doer(HERE.instructor, None)  # type: ignore[arg-type]  # a line without its moment
    for changing in (
        stores.lists.go_live(HERE.tenant, new.id, None, nowhere),
        stores.lists.add_version(HERE.tenant, new.id, says("two"), nowhere),
    ):
        with pytest.raises(Exception, match="null value"):
            await changing
    assert await stores.lists.get(HERE.tenant, new.id) == new
    assert len(await stores.lists.versions(HERE.tenant, new.id)) == 1


@pytest.mark.postgres
async def test_what_no_database_holds_is_told_as_that_and_without_the_words(database_engine: AsyncEngine) -> None:
    await people_and_scenarios(database_engine)
    lists = PostgresPhraseLists(engine=database_engine)
    for text in ("banana\x00b", "banana\ud800b"):
        with pytest.raises(ValueUnstorable) as refused:
            await lists.add(kept_list(), says(text))
        assert "banana" not in "".join(traceback.format_exception(refused.value))


@pytest.mark.postgres
async def test_a_database_that_is_away_is_told_as_that_and_whose_rules_may_have_changed() -> None:
    engine, heard = postgres_engine("postgresql://nobody@127.0.0.1:1/nothing"), []

    async def told(tenant: object) -> None:
        heard.append(tenant)

    lists = PostgresPhraseLists(engine=engine, told=told)
    with pytest.raises(RecordsUnavailable):
        await lists.get(HERE.tenant, NOBODYS)
    assert not heard
    with pytest.raises(RecordsUnavailable):
        await lists.archive(HERE.tenant, NOBODYS, INSTRUCTOR)
    assert heard == [HERE.tenant]
    await engine.dispose()


def allowing(text: str) -> Callable[[PhraseList], PhraseList]:
    return lambda said: said if text in said.allowed else replace(said, allowed=(*said.allowed, text))


async def test_what_is_in_force_is_amended_and_not_the_latest_draft(stores: Stores) -> None:
    new = await stores.lists.add(kept_list(live=True), says("one", "two"))
    await stores.lists.add_version(HERE.tenant, new.id, says("draft"), INSTRUCTOR)
    amended = await stores.lists.amend(HERE.tenant, new.id, allowing("one of us"), LATER)
    said = replace(says("one", "two", allowed=("one of us",)), name="banned", version=3)
    assert amended == ListVersion(new.id, 3, said, LATER.account, LATER.at)
    assert await stores.lists.version(HERE.tenant, new.id, 3) == amended
    kept = await stores.lists.get(HERE.tenant, new.id)
    assert kept == replace(new, live_version=3, latest_version=3)
    assert stores.heard
    told = [(entry.action, dict(entry.facts)) for entry in await stores.trail.page(HERE.tenant, limit=2)]
    assert told == [
        ("list_live", {"version": 3, "before": 1}),
        ("version_added", {"version": 3, "phrases": 2, "allowed": 1}),
    ]


async def test_a_list_that_is_not_in_force_stays_so_when_it_is_amended(stores: Stores) -> None:
    new = await stores.lists.add(kept_list(), says("one"))
    await stores.lists.add_version(HERE.tenant, new.id, says("two"), INSTRUCTOR)
    amended = await stores.lists.amend(HERE.tenant, new.id, allowing("two of us"), LATER)
    assert (amended.version, amended.phrases.phrases) == (3, says("two").phrases)
    assert await stores.lists.get(HERE.tenant, new.id) == replace(new, latest_version=3)


async def test_amending_what_is_so_already_writes_nothing(stores: Stores) -> None:
    new = await stores.lists.add(kept_list(live=True), says("one"))
    first = await stores.lists.amend(HERE.tenant, new.id, allowing("one of us"), LATER)
    assert await stores.lists.amend(HERE.tenant, new.id, allowing("one of us"), INSTRUCTOR) == first
    assert len(await stores.lists.versions(HERE.tenant, new.id)) == 2


async def test_amendments_at_once_are_all_in_the_last_one(stores: Stores) -> None:
    new = await stores.lists.add(kept_list(live=True), says("one"))
    texts = [f"one of {number}" for number in range(6)]
    await asyncio.gather(*(stores.lists.amend(HERE.tenant, new.id, allowing(text), LATER) for text in texts))
    kept = await stores.lists.get(HERE.tenant, new.id)
    assert kept == replace(new, live_version=7, latest_version=7)
    last = await stores.lists.version(HERE.tenant, new.id, 7)
    assert last is not None
    assert sorted(last.phrases.allowed) == texts


async def test_what_cannot_be_amended_stays_as_it_is(stores: Stores) -> None:
    new = await stores.lists.add(kept_list(live=True), says("one"))

    def unwilling(_said: PhraseList) -> PhraseList:
        raise LookupError

    with pytest.raises(LookupError):
        await stores.lists.amend(HERE.tenant, new.id, unwilling, LATER)
    assert await stores.lists.get(HERE.tenant, new.id) == new
    with pytest.raises(PhraseListNotFound):
        await stores.lists.amend(ELSEWHERE.tenant, new.id, allowing("x y"), LATER)
    await stores.lists.archive(HERE.tenant, new.id, LATER)
    with pytest.raises(PhraseListNotFound):
        await stores.lists.amend(HERE.tenant, new.id, allowing("x y"), LATER)
