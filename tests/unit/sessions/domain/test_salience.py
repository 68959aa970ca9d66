"""What looks like a fact, and what like small talk."""

import pytest

from sessions.domain.salience import cues
from tests.support.planted_facts import FACTS


@pytest.mark.parametrize(
    "sentence",
    [
        *FACTS,
        "It cost $40.",
        "We meet on Friday.",
        "Call me at 14:30.",
        "Then Peter came in.",
        "She said “never again” to me.",
        "They promised a refund.",
        "I live in a flat.",
        "我答应周五之前付款。",
        "我对花生过敏。",
        "请寄到《读者》编辑部。",
    ],
)
def test_a_fact_has_a_sign(sentence: str) -> None:
    assert cues(sentence) > 0


@pytest.mark.parametrize(
    "sentence", ["Yes, of course.", "Please go on.", "turn 7: please go on", "好的。", "您慢慢讲没有关系。"]
)
def test_small_talk_has_none(sentence: str) -> None:
    assert cues(sentence) == 0


def test_more_signs_weigh_more() -> None:
    assert cues("My order is 48213-B and it comes on Friday.") > cues("It comes on Friday.")
