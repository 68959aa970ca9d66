"""What the reviews of turns promise, on dictionaries and on Postgres."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest
from sqlalchemy import Row, select, text
from sqlalchemy.ext.asyncio import AsyncEngine

from sessions.adapters.memory_records import MemoryRecords
from sessions.adapters.memory_reviews import MemoryReviews
from sessions.adapters.postgres.engine import postgres_engine
from sessions.adapters.postgres.moderation_tables import moderation_audit
from sessions.adapters.postgres.records import PostgresRecords
from sessions.adapters.postgres.reviews import PostgresReviews
from sessions.domain.moderation import (
    NOTHING_FOUND,
    Action,
    BlockReason,
    Direction,
    Judgement,
    Mark,
    Source,
    Verdict,
)
from sessions.domain.review import (
    ChangeKind,
    Decided,
    Decision,
    ListChange,
    ReviewFilter,
    ReviewPage,
    ReviewPlace,
    ReviewState,
)
from sessions.domain.session import Session, SessionId
from sessions.domain.turn import Turn
from sessions.errors import RecordsUnavailable, ReviewNotFound
from sessions.ports import Records
from sessions.review_ports import Reviews
from tests.support.records_fixture import add_sessions, write_scenarios
from tests.support.records_world import CONTENT, ELSEWHERE, HERE, NOON, session, settle, turn, uuid_of

PHRASE = Mark(Direction.OUTPUT, Source.PHRASE, "r1", "fraud", 3, Action.BLOCK, "banned", 2, 3, 9, "ab" * 32)
SIGNAL = Mark(Direction.INPUT, Source.INJECTION, "override", "injection", 2, Action.FLAG, score=0.5)
FLAGGED, BLOCKED = Judgement((SIGNAL,)), Judgement((PHRASE,), BlockReason.BANNED_PHRASE, ("price",))
UNCHECKED = Judgement(blocked=BlockReason.UNCHECKED)
ANY = ReviewFilter()
MINE, OTHER, THEIRS = session("mine"), session("other", minutes=1), session("theirs", ELSEWHERE)
ALLOWS = ListChange(ChangeKind.ALLOW, uuid_of("list"), "退货 policy")
ASKED_FOR = {
    ReviewFilter(state=ReviewState.OPEN): [4, 3, 1],
    ReviewFilter(state=ReviewState.DECIDED): [2],
    ReviewFilter(session=MINE.id): [3, 2, 1],
    ReviewFilter(session=SessionId(uuid_of("nobody's"))): [],
    ReviewFilter(source=Source.PHRASE): [2],
    ReviewFilter(source=Source.INJECTION): [4, 1],
    ReviewFilter(source=Source.GUARD): [],
    ReviewFilter(verdict=Verdict.BLOCK): [3, 2],
    ReviewFilter(verdict=Verdict.FLAG): [4, 1],
    ReviewFilter(state=ReviewState.OPEN, session=MINE.id, source=Source.INJECTION, verdict=Verdict.FLAG): [1],
}
"""With the turns that are found by it."""


@dataclass
class Desk:
    records: Records
    reviews: Reviews
    engine: AsyncEngine | None = None

    async def play(self, found: Judgement, number: int, *, of: Session = MINE, withheld: str = "") -> Turn:
        played = replace(turn(number, of=of), moderation=found)
        async with self.records.begin(of.tenant) as work:
            await work.turns.add(played)
            if withheld:
                await work.withheld.add(played.session, number, withheld)
        return played

    async def trail(self) -> list[Row[tuple[object, ...]]]:
        assert self.engine is not None
        async with self.engine.begin() as connection:
            return list((await connection.execute(select(moderation_audit))).all())


@pytest.fixture(params=["memory", pytest.param("postgres", marks=pytest.mark.postgres)])
async def desk(request: pytest.FixtureRequest) -> AsyncIterator[Desk]:
    if request.param == "memory":
        memory = MemoryRecords()
        await write_scenarios(memory)
        await add_sessions(memory, MINE, OTHER, THEIRS)
        yield Desk(memory, MemoryReviews(memory))
        return
    engine = postgres_engine(request.getfixturevalue("database_url"))
    await settle(engine)
    records = PostgresRecords(engine=engine)
    await write_scenarios(records)
    await add_sessions(records, MINE, OTHER, THEIRS)
    yield Desk(records, PostgresReviews(engine=engine), engine)
    await engine.dispose()


def decision(number: int = 1, *, of: Session = MINE, **changes: object) -> Decision:
    usual = Decision(of.id, number, Decided.FALSE_ALARM, "they sell desks", ALLOWS, HERE.instructor, NOON)
    return replace(usual, **changes)  # type: ignore[arg-type]  # tests name the fields they change


def numbers(page: ReviewPage) -> list[int]:
    return [review.turn.number for review in page.items]


async def test_what_waits_is_what_was_found_and_no_mere_points(desk: Desk) -> None:
    for number, found in enumerate((NOTHING_FOUND, Judgement(points=("price",)), FLAGGED, BLOCKED, UNCHECKED), start=1):
        await desk.play(found, number)
    page = await desk.reviews.page(HERE.tenant, ANY, limit=9)
    assert (numbers(page), page.next) == ([5, 4, 3], None)
    assert page.items[1].turn == replace(turn(4, of=MINE), moderation=BLOCKED)
    assert page.items[1].trainee == MINE.trainee
    assert (page.items[1].scenario, page.items[1].scenario_version) == (MINE.scenario, 1)
    assert await desk.reviews.get(HERE.tenant, MINE.id, 2) is None
    assert await desk.reviews.get(HERE.tenant, MINE.id, 9) is None


async def test_another_tenant_sees_and_decides_nothing(desk: Desk) -> None:
    await desk.play(BLOCKED, 1, of=THEIRS)
    assert (await desk.reviews.page(HERE.tenant, ANY, limit=9)).items == ()
    assert await desk.reviews.get(HERE.tenant, THEIRS.id, 1) is None
    with pytest.raises(ReviewNotFound):
        await desk.reviews.decide(HERE.tenant, decision(of=THEIRS))
    theirs = decision(of=THEIRS, by=ELSEWHERE.instructor)
    assert await desk.reviews.decide(ELSEWHERE.tenant, theirs) == theirs
    await desk.reviews.done(HERE.tenant, replace(theirs, effect=replace(ALLOWS, version=7)))
    found = await desk.reviews.get(ELSEWHERE.tenant, THEIRS.id, 1)
    assert found is not None
    assert found.review.decision == theirs


async def test_pages_go_on_where_they_ended_while_new_turns_come(desk: Desk) -> None:
    for number in (1, 2, 3):
        await desk.play(FLAGGED, number)
        await desk.play(BLOCKED, number, of=OTHER)  # of the same moment
    seen: list[tuple[SessionId, int]] = []
    after: ReviewPlace | None = None
    for late in (7, 8, 9):
        page = await desk.reviews.page(HERE.tenant, ANY, limit=2, after=after)
        seen += [(review.turn.session, review.turn.number) for review in page.items]
        after = page.next
        await desk.play(FLAGGED, late)
    assert after is None
    ordered = sorted((MINE.id, OTHER.id), reverse=True)
    assert seen == [(one, number) for number in (3, 2, 1) for one in ordered]


async def test_what_is_asked_for_is_shown(desk: Desk) -> None:
    for number, found in enumerate((FLAGGED, BLOCKED, UNCHECKED), start=1):
        await desk.play(found, number)
    await desk.play(FLAGGED, 4, of=OTHER)
    await desk.reviews.decide(HERE.tenant, decision(2, effect=None))
    shown = {which: numbers(await desk.reviews.page(HERE.tenant, which, limit=9)) for which in ASKED_FOR}
    assert shown == ASKED_FOR


async def test_a_review_is_shown_in_its_context(desk: Desk) -> None:
    played = [await desk.play(BLOCKED if number == 4 else NOTHING_FOUND, number) for number in (1, 2, 3, 5, 6, 7)]
    played.insert(3, await desk.play(BLOCKED, 4, withheld="忽略 all\nof it"))
    await desk.play(NOTHING_FOUND, 3, of=OTHER)
    found = await desk.reviews.get(HERE.tenant, MINE.id, 4)
    assert found is not None
    assert (found.title, found.withheld) == (CONTENT.title, "忽略 all\nof it")
    assert (list(found.before), list(found.after)) == (played[1:3], played[4:6])
    assert found.review.turn == played[3]
    assert found.review.decision is None


async def test_nothing_is_withheld_where_all_was_told(desk: Desk) -> None:
    await desk.play(FLAGGED, 1)
    found = await desk.reviews.get(HERE.tenant, MINE.id, 1)
    assert found is not None
    assert (found.withheld, found.before, found.after) == (None, (), ())


@pytest.mark.parametrize("made", [decision(), decision(effect=None, note="", decided=Decided.CONFIRMED)])
async def test_a_decision_is_kept_and_what_it_led_to(desk: Desk, made: Decision) -> None:
    await desk.play(BLOCKED, 1)
    assert await desk.reviews.decide(HERE.tenant, made) == made
    assert (await desk.reviews.page(HERE.tenant, ANY, limit=1)).items[0].decision == made
    effect = None if made.effect is None else replace(made.effect, version=4)
    await desk.reviews.done(HERE.tenant, replace(made, effect=effect))
    found = await desk.reviews.get(HERE.tenant, MINE.id, 1)
    assert found is not None
    assert found.review.decision == replace(made, effect=effect)


async def test_the_first_decision_stands(desk: Desk) -> None:
    await desk.play(BLOCKED, 1)
    first = await desk.reviews.decide(HERE.tenant, decision())
    later = decision(decided=Decided.CONFIRMED, effect=None, at=NOON + timedelta(hours=1))
    assert await desk.reviews.decide(HERE.tenant, later) == first


async def test_of_decisions_at_once_one_is_kept_and_told_to_all(desk: Desk) -> None:
    await desk.play(BLOCKED, 1)
    asked = [decision(note=f"reviewer {number}") for number in range(6)]
    answers = await asyncio.gather(*(desk.reviews.decide(HERE.tenant, one) for one in asked))
    assert len({answer.note for answer in answers}) == 1
    if desk.engine is not None:
        assert len(await desk.trail()) == 1


async def test_what_is_not_there_cannot_be_decided(desk: Desk) -> None:
    await desk.play(NOTHING_FOUND, 1)
    for number in (1, 2):
        with pytest.raises(ReviewNotFound):
            await desk.reviews.decide(HERE.tenant, decision(number))


@pytest.mark.postgres
async def test_a_decision_and_its_line_of_the_trail_are_one(database_url: str) -> None:
    engine = postgres_engine(database_url)
    await settle(engine)
    records = PostgresRecords(engine=engine)
    await write_scenarios(records)
    await add_sessions(records, MINE)
    desk = Desk(records, PostgresReviews(engine=engine), engine)
    await desk.play(BLOCKED, 1)
    await desk.play(BLOCKED, 2)
    await desk.reviews.decide(HERE.tenant, decision())
    (line,) = await desk.trail()
    assert (line.tenant_id, line.actor, line.at, line.action, line.subject) == (
        HERE.tenant,
        HERE.instructor,
        NOON,
        "turn_reviewed",
        f"{MINE.id}/1",
    )
    assert line.facts == {"decision": "false_alarm", "effect": "allow", "list": str(ALLOWS.list)}
    async with engine.begin() as connection:
        await connection.execute(text("alter table moderation_audit add constraint full_up check (id < 0) not valid"))
    with pytest.raises(Exception, match="full_up"):
        await desk.reviews.decide(HERE.tenant, decision(2))
    assert (await desk.reviews.page(HERE.tenant, ReviewFilter(state=ReviewState.DECIDED), limit=9)).items[
        0
    ].turn.number == 1
    assert len(await desk.trail()) == 1
    await engine.dispose()


@pytest.mark.postgres
async def test_a_database_that_is_away_is_told_as_that() -> None:
    engine = postgres_engine("postgresql://nobody@127.0.0.1:1/nothing")
    with pytest.raises(RecordsUnavailable):
        await PostgresReviews(engine=engine).page(HERE.tenant, ANY, limit=1)
    await engine.dispose()
