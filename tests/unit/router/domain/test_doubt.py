"""Where the text of tokens that came at once ends."""

import pytest

from router.domain.doubt import Doubt


@pytest.mark.parametrize(
    ("ids", "at_once", "candidates"),
    [([1, 2, 3], 2, [3, 2]), ([1, 2, 3], 3, [3, 2, 1]), (list(range(20)), 20, list(range(20, 12, -1))), ([1], 1, [1])],
)
def test_text_ends_with_one_of_the_last_tokens(ids: list[int], at_once: int, candidates: list[int]) -> None:
    assert list(Doubt(ids, "a", at_once).candidates) == candidates


@pytest.mark.parametrize("said", ["好", "hm</think>好"])
def test_tokens_that_end_with_the_text_are_its_own(said: str) -> None:
    assert Doubt([1, 2], "好", 2).is_settled_by(said)
    assert Doubt([1, 2], " 好", 2).is_settled_by(said)


@pytest.mark.parametrize("said", ["好\ufffd", "", "你"])
def test_others_are_not(said: str) -> None:
    assert not Doubt([1, 2], "好", 2).is_settled_by(said)


def test_of_space_alone_nothing_is_known() -> None:
    assert not Doubt([1, 2], " ", 2).is_settled_by(" ")
