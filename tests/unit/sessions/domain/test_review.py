"""What waits for a review, and when two decisions are one."""

from dataclasses import replace
from datetime import timedelta

import pytest

from sessions.domain.moderation import NOTHING_FOUND, Action, BlockReason, Direction, Judgement, Mark, Source, Verdict
from sessions.domain.review import (
    ChangeKind,
    Decided,
    Decision,
    ListChange,
    Review,
    ReviewFilter,
    ReviewPlace,
    ReviewState,
    audit_facts,
    fits,
    is_for_review,
    page_of,
    place_of,
)
from sessions.domain.session import SessionId
from tests.support.records_world import HERE, NOON, session, turn, uuid_of

MARK = Mark(Direction.OUTPUT, Source.PHRASE, "r1", "fraud", 3, Action.FLAG)
FLAGGED, BLOCKED = Judgement((MARK,)), Judgement((MARK,), BlockReason.BANNED_PHRASE)
ALLOWS = ListChange(ChangeKind.ALLOW, uuid_of("list"), "returns policy")
DECISION = Decision(session().id, 1, Decided.FALSE_ALARM, "they sell desks", ALLOWS, HERE.instructor, NOON)


def review(found: Judgement = FLAGGED, number: int = 1, decision: Decision | None = None) -> Review:
    return Review(replace(turn(number), moderation=found), HERE.trainee, session().scenario, 1, decision)


@pytest.mark.parametrize(
    ("found", "waits"),
    [
        (NOTHING_FOUND, False),
        (Judgement(points=("price",)), False),
        (FLAGGED, True),
        (BLOCKED, True),
        (Judgement(blocked=BlockReason.UNCHECKED), True),
    ],
)
def test_a_mere_point_is_nothing_to_review(found: Judgement, *, waits: bool) -> None:
    assert is_for_review(replace(turn(), moderation=found)) is waits


@pytest.mark.parametrize(
    ("which", "fit"),
    [
        (ReviewFilter(), True),
        (ReviewFilter(state=ReviewState.OPEN), True),
        (ReviewFilter(state=ReviewState.DECIDED), False),
        (ReviewFilter(session=session().id), True),
        (ReviewFilter(session=SessionId(uuid_of("other"))), False),
        (ReviewFilter(source=Source.PHRASE), True),
        (ReviewFilter(source=Source.INJECTION), False),
        (ReviewFilter(verdict=Verdict.FLAG), True),
        (ReviewFilter(verdict=Verdict.BLOCK), False),
    ],
)
def test_what_is_asked_for_fits(which: ReviewFilter, *, fit: bool) -> None:
    assert fits(review(), which) is fit


def test_a_review_is_open_until_it_is_decided() -> None:
    assert review().state is ReviewState.OPEN
    assert review(decision=DECISION).state is ReviewState.DECIDED


def test_a_page_tells_where_the_next_one_begins() -> None:
    reviews = [review(number=number) for number in (3, 2, 1)]
    first = page_of(reviews, 2)
    assert (first.items, first.next) == (tuple(reviews[:2]), place_of(reviews[1]))
    assert page_of(reviews, 3) == page_of(reviews, 4)
    assert page_of(reviews, 3).next is None
    assert place_of(reviews[1]) == ReviewPlace(reviews[1].turn.ended_at, session().id, 2)


def test_the_same_decision_by_another_person_and_later_is_the_same() -> None:
    later = replace(DECISION, by=HERE.trainee, at=NOON + timedelta(days=1))
    done = replace(DECISION, effect=replace(ALLOWS, version=4))
    assert later.repeats(done)
    assert replace(DECISION, effect=None).repeats(replace(later, effect=None))


@pytest.mark.parametrize(
    "other",
    [
        replace(DECISION, decided=Decided.CONFIRMED),
        replace(DECISION, note=""),
        replace(DECISION, effect=None),
        replace(DECISION, effect=replace(ALLOWS, subject="returns")),
        replace(DECISION, effect=replace(ALLOWS, kind=ChangeKind.REMOVE_RULE)),
    ],
)
def test_another_decision_is_another(other: Decision) -> None:
    assert not DECISION.repeats(other)


def test_the_audit_trail_tells_ids_and_no_words() -> None:
    told = audit_facts(DECISION)
    assert told == {"decision": "false_alarm", "effect": "allow", "list": str(ALLOWS.list)}
    assert audit_facts(replace(DECISION, effect=None)) == {"decision": "false_alarm", "effect": None, "list": None}
