"""What of a document is near a question."""

import pytest

from sessions.domain.nearness import grams, nearest

PIECES = (
    "The parcel is delivered within three days.",
    "Returns are free within 14 days; the form AX-4471 lies in the parcel.",
    "退货在十四天内免费。",
    "我们的商店在上海。",
)


@pytest.mark.parametrize(
    ("question", "first"),
    [("Are returns free?", 1), ("退货要多少钱?免费吗", 2), ("When is it DELIVERED", 0), ("商店在哪里", 3)],
)
def test_the_piece_that_answers_comes_first(question: str, first: int) -> None:
    assert nearest(question, PIECES)[0][0] == first


def test_a_numbered_rule_is_told_from_one_that_holds_the_same_digits() -> None:
    pieces = ["Rule 3.4: answer within a day.", "Rule 4.3: answer within a week."]
    assert [place for place, _ in nearest("What does rule 4.3 say?", pieces)] == [1, 0]


def test_what_shares_nothing_is_left_out() -> None:
    assert nearest("zebra", PIECES) == []
    assert nearest("", PIECES) == []
    assert nearest("Returns", []) == []


def test_equals_stay_in_their_order_and_shares_are_told() -> None:
    assert nearest("a b", ["b a", "a b", "a"]) == [(0, 1.0), (1, 1.0), (2, pytest.approx(0.4, abs=0.1))]


def test_chinese_is_compared_by_pairs_and_a_lone_character_by_itself() -> None:
    assert grams("退货单 AX, 的 x") == {"退货", "货单", "ax", "的", "x"}
