"""Decisions about turns, and what they do to lists."""

import asyncio
from dataclasses import dataclass, replace
from uuid import UUID

import pytest
from typing_extensions import override

from gateway.adapters.memory_moderation import MemoryAuditTrail, MemoryPhraseLists, ModerationBook
from gateway.errors import FieldInvalid, PhraseListNotFound, ReviewDecided
from gateway.moderation_ports import ListId
from gateway.review_cases import ReviewCases, Wish
from sessions.adapters.memory_records import MemoryRecords
from sessions.adapters.memory_reviews import MemoryReviews
from sessions.domain.moderation import Action, BlockReason, Direction, Judgement, Mark, Source
from sessions.domain.review import ChangeKind, Decided, Decision, ListChange, ReviewFilter
from sessions.domain.session import SessionId
from sessions.domain.viewer import TenantId
from sessions.errors import RecordsUnavailable, ReviewNotFound
from tests.support.moderation_stores import INSTRUCTOR, kept_list, says
from tests.support.records_fixture import add_sessions, write_scenarios
from tests.support.records_world import ELSEWHERE, HERE, session, turn, uuid_of
from tests.support.session_fakes import FakeClock

MARK = Mark(Direction.OUTPUT, Source.PHRASE, "r0", "test", 2, Action.BLOCK, "banned", 1)
LIST = kept_list(live=True).id
CONFIRMED = Wish(Decided.CONFIRMED)


def allowing(text: str, found: UUID = LIST) -> Wish:
    return Wish(Decided.FALSE_ALARM, effect=ListChange(ChangeKind.ALLOW, found, text))


def removing(rule: str) -> Wish:
    return Wish(Decided.FALSE_ALARM, effect=ListChange(ChangeKind.REMOVE_RULE, LIST, rule))


class FragileReviews(MemoryReviews):
    """Breaks down before it writes that an effect is done."""

    breaks = False

    @override
    async def done(self, tenant: TenantId, decision: Decision) -> None:
        if self.breaks:
            raise RecordsUnavailable("gone")
        await super().done(tenant, decision)


class FragileLists(MemoryPhraseLists):
    breaks = False

    @override
    async def amend(self, *given, **named):  # type: ignore[no-untyped-def]  # as the one below it
        if self.breaks:
            raise RecordsUnavailable("gone")
        return await super().amend(*given, **named)


@dataclass
class Office:
    cases: ReviewCases
    lists: FragileLists
    reviews: FragileReviews
    book: ModerationBook

    async def decide(self, wish: Wish, number: int = 1) -> Decision:
        return await self.cases.decide(HERE.teacher, session().id, number, wish)

    async def live(self) -> tuple[int | None, tuple[str, ...], tuple[str, ...]]:
        """Of the list: the version in force, its rules and what it allows."""
        kept = await self.lists.get(HERE.tenant, LIST)
        assert kept is not None
        version = await self.lists.version(HERE.tenant, LIST, kept.live_version or kept.latest_version)
        assert version is not None
        said = version.phrases
        return kept.live_version, tuple(phrase.id for phrase in said.phrases), said.allowed

    async def decision(self, number: int = 1) -> Decision | None:
        return (await self.cases.read(HERE.teacher, session().id, number)).review.decision


@pytest.fixture
async def office() -> Office:
    records, book = MemoryRecords(), ModerationBook()
    await write_scenarios(records)
    await add_sessions(records, session())
    async with records.begin() as work:
        for number in (1, 2):
            found = Judgement((MARK,), BlockReason.BANNED_PHRASE)
            await work.turns.add(replace(turn(number), moderation=found))
        await work.turns.add(turn(3))
    lists, reviews = FragileLists(book), FragileReviews(records)
    await lists.add(kept_list(live=True), says("returns", "guarantee"))
    return Office(ReviewCases(reviews=reviews, lists=lists, clock=FakeClock()), lists, reviews, book)


async def test_a_decision_without_an_effect_changes_nothing_else(office: Office) -> None:
    made = await office.decide(Wish(Decided.CONFIRMED, "reported"))
    assert (made.decided, made.note, made.effect, made.by) == (Decided.CONFIRMED, "reported", None, HERE.instructor)
    assert await office.decision() == made
    assert await office.live() == (1, ("r0", "r1"), ())


async def test_a_phrase_that_is_allowed_is_in_force_with_the_answer(office: Office) -> None:
    made = await office.decide(allowing("returns policy"))
    assert made.effect is not None
    assert made.effect.version == 2
    assert await office.live() == (2, ("r0", "r1"), ("returns policy",))
    assert await office.decision() == made


async def test_a_rule_is_removed(office: Office) -> None:
    await office.decide(removing("r1"))
    assert await office.live() == (2, ("r0",), ())


async def test_the_same_again_is_answered_alike_and_another_is_refused(office: Office) -> None:
    first = await office.decide(allowing("returns policy"))
    assert await office.decide(allowing("returns policy")) == first
    for other in (CONFIRMED, allowing("returns desk"), Wish(Decided.FALSE_ALARM), Wish(Decided.CONFIRMED, "x")):
        with pytest.raises(ReviewDecided):
            await office.decide(other)
    assert await office.live() == (2, ("r0", "r1"), ("returns policy",))


async def test_of_two_reviewers_at_once_one_is_refused(office: Office) -> None:
    wishes = (CONFIRMED, allowing("returns policy"))
    answers = await asyncio.gather(*(office.decide(wish) for wish in wishes), return_exceptions=True)
    assert sorted(type(answer).__name__ for answer in answers) == ["Decision", "ReviewDecided"]


async def test_the_same_by_many_at_once_is_done_once_and_told_to_all(office: Office) -> None:
    answers = await asyncio.gather(*(office.decide(removing("r1")) for _ in range(5)))
    assert len(set(answers)) == 1
    assert await office.live() == (2, ("r0",), ())


async def test_who_finds_the_rule_gone_by_the_same_decision_is_told_that_it_is_made(office: Office) -> None:
    first = await office.decide(removing("r1"))
    assert await office.decide(removing("r1")) == first


async def test_decisions_about_two_turns_at_once_both_take_effect(office: Office) -> None:
    await asyncio.gather(office.decide(allowing("returns policy")), office.decide(allowing("returns desk"), 2))
    live, _, allowed = await office.live()
    assert (live, sorted(allowed)) == (3, ["returns desk", "returns policy"])


@pytest.mark.parametrize("broken", ["before the list", "behind the list"])
async def test_what_broke_off_is_done_when_it_is_asked_again(office: Office, broken: str) -> None:
    fragile = office.lists if broken == "before the list" else office.reviews
    fragile.breaks = True
    with pytest.raises(RecordsUnavailable):
        await office.decide(allowing("returns policy"))
    half = await office.decision()
    assert half is not None
    assert half.effect is not None
    assert half.effect.version is None
    fragile.breaks = False
    made = await office.decide(allowing("returns policy"))
    assert made.effect is not None
    assert made.effect.version == 2
    assert await office.live() == (2, ("r0", "r1"), ("returns policy",))


@pytest.mark.parametrize(
    ("wish", "field"),
    [
        (allowing("..."), "effect.allow"),
        (allowing("x"), "effect.allow"),
        (allowing("re-turns"), "effect.allow"),
        (allowing("something else"), "effect.allow"),
        (removing("r9"), "effect.remove_rule"),
    ],
)
async def test_what_cannot_take_effect_is_not_decided(office: Office, wish: Wish, field: str) -> None:
    with pytest.raises(FieldInvalid) as refused:
        await office.decide(wish)
    assert refused.value.field == field
    assert await office.decision() is None


async def test_a_phrase_of_another_list_may_be_allowed_by_this_one(office: Office) -> None:
    other = await office.lists.add(
        replace(kept_list(live=True), id=ListId(uuid_of("other")), name="other"), says("x y")
    )
    made = await office.decide(allowing("no such phrase", other.id))
    assert made.effect is not None
    assert made.effect.version == 2


async def test_a_list_that_is_not_there_or_archived_changes_no_more(office: Office) -> None:
    foreign = await office.lists.add(kept_list(people=ELSEWHERE), says("one"))
    for found in (ListId(uuid_of("none")), foreign.id):
        with pytest.raises(PhraseListNotFound):
            await office.decide(allowing("returns policy", found))
    await office.lists.archive(HERE.tenant, LIST, INSTRUCTOR)
    with pytest.raises(PhraseListNotFound):
        await office.decide(allowing("returns policy"))
    assert await office.decision() is None


async def test_a_decision_whose_list_is_archived_meanwhile_stands_without_an_effect(office: Office) -> None:
    office.lists.breaks = True
    with pytest.raises(RecordsUnavailable):
        await office.decide(removing("r1"))
    office.lists.breaks = False
    await office.lists.archive(HERE.tenant, LIST, INSTRUCTOR)
    made = await office.decide(removing("r1"))
    assert made == await office.decision()
    assert made.effect is not None
    assert made.effect.version is None


async def test_a_turn_without_findings_or_of_others_is_nothing_to_review(office: Office) -> None:
    for viewer, number in ((HERE.teacher, 3), (HERE.teacher, 9), (ELSEWHERE.teacher, 1)):
        with pytest.raises(ReviewNotFound):
            await office.cases.decide(viewer, session().id, number, CONFIRMED)
        with pytest.raises(ReviewNotFound):
            await office.cases.read(viewer, session().id, number)
    with pytest.raises(ReviewNotFound):
        await office.cases.read(HERE.teacher, SessionId(uuid_of("none")), 1)
    assert (await office.cases.page(ELSEWHERE.teacher, ReviewFilter(), 9, None)).items == ()


async def test_the_lists_changes_are_in_the_trail_under_the_reviewers_name(office: Office) -> None:
    await office.decide(allowing("returns policy"))
    lines = await MemoryAuditTrail(office.book).page(HERE.tenant, limit=2)
    assert [(line.action, line.actor) for line in lines] == [
        ("list_live", HERE.instructor),
        ("version_added", HERE.instructor),
    ]
