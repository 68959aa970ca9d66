"""Which points of an outline a text makes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.moderation.phrases import Reason
from gateway.domain.moderation.talking_points import TalkingPoints, phrase_fault

POINTS = TalkingPoints(
    [
        ("price", ("our price", "报价", "price list")),
        ("thanks", ("thank you",)),
        ("costs", ("Our  PRICE",)),
        ("nothing", ("...",)),
    ]
)


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("", ()),
        ("Good morning", ()),
        ("THANK\u200b YOU", ("thanks",)),
        ("这是我们的报 價。", ("price",)),
        ("t h a n k y o u, for asking about our price list", ("price", "thanks", "costs")),
        ("thank your friends", ()),
        ("... !!", ()),
    ],
)
def test_a_point_is_made_by_any_of_its_phrases_as_they_are_read(text: str, made: tuple[str, ...]) -> None:
    assert POINTS.made(text) == made


WORDS = st.lists(
    st.sampled_from(("our", "price", "OUR", "thank", "you", "报价", "报", "价", "。", "x")), max_size=6
).map(" ".join)


@given(st.lists(st.lists(WORDS, min_size=1, max_size=3), max_size=5), WORDS)
def test_points_that_are_looked_for_together_are_those_that_are_found_alone(points: list[list[str]], text: str) -> None:
    named = [(f"p{number}", phrases) for number, phrases in enumerate(points)]
    alone = tuple(name for name, phrases in named if TalkingPoints([(name, phrases)]).made(text))
    assert TalkingPoints(named).made(text) == alone


def test_points_that_are_made_twice_are_told_once() -> None:
    assert POINTS.made("thank you, thank you") == ("thanks",)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("our price", None),
        ("报", None),
        (" \u200b!", Reason.EMPTY),
        ("a", Reason.TOO_SHORT),
        ("x" * 129, Reason.TOO_LONG),
    ],
)
def test_a_phrase_of_a_point_is_one_that_a_list_may_have(text: str, reason: Reason | None) -> None:
    fault = phrase_fault(text)
    assert (None if fault is None else fault.reason) is reason
