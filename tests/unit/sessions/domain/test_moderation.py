"""What is kept of moderation."""

from dataclasses import replace

import pytest

from sessions.domain.moderation import (
    MOST_MARKS,
    NOTHING_FOUND,
    Action,
    BlockReason,
    Direction,
    Judgement,
    Mark,
    Moderated,
    Source,
    Verdict,
    together,
)


def mark(rule: str = "r1") -> Mark:
    return Mark(Direction.OUTPUT, Source.PHRASE, rule, "politics", 3, Action.FLAG)


@pytest.mark.parametrize(
    ("judgement", "verdict"),
    [
        (NOTHING_FOUND, Verdict.ALLOW),
        (Judgement(points=("greets",)), Verdict.ALLOW),
        (Judgement(marks=(mark(),)), Verdict.FLAG),
        (Judgement(marks=(mark(),), blocked=BlockReason.BANNED_PHRASE), Verdict.BLOCK),
        (Judgement(blocked=BlockReason.UNCHECKED), Verdict.BLOCK),
    ],
)
def test_the_verdict_is_what_was_done(judgement: Judgement, verdict: Verdict) -> None:
    assert judgement.verdict is verdict


def test_a_text_is_blocked_as_its_judgement_says() -> None:
    assert Moderated("all of it").blocked is None
    assert Moderated("", Judgement(blocked=BlockReason.INJECTION)).blocked is BlockReason.INJECTION


def test_message_and_reply_are_judged_together() -> None:
    message = Judgement(marks=(mark("a"),))
    reply = Judgement(marks=(mark("b"), mark("c")), blocked=BlockReason.BANNED_PHRASE, points=("greets",))
    assert together([message, reply]) == Judgement(
        marks=(mark("a"), mark("b"), mark("c")), blocked=BlockReason.BANNED_PHRASE, points=("greets",)
    )
    assert together([reply, Judgement(blocked=BlockReason.UNSAFE)]).blocked is BlockReason.BANNED_PHRASE
    assert together([]) == NOTHING_FOUND


def test_of_too_many_findings_the_hardest_are_kept_in_their_order() -> None:
    many = tuple(mark(str(number)) for number in range(MOST_MARKS))
    masked, blocked = replace(mark("masked"), action=Action.MASK), replace(mark("blocked"), action=Action.BLOCK)
    kept = together([Judgement(marks=(*many, masked)), Judgement(marks=(blocked,))]).marks
    assert kept == (*many[:-2], masked, blocked)


def test_a_message_is_masked_by_what_was_found_in_it_alone() -> None:
    masked = replace(mark(), action=Action.MASK)
    assert not Judgement(marks=(masked, replace(mark(), direction=Direction.INPUT))).masks_message
    assert Judgement(marks=(mark(), replace(masked, direction=Direction.INPUT))).masks_message
