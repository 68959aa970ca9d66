"""What judges the exercise or gives orders is told from ordinary lines of a role-play."""

import pytest

from sessions.domain.judging_words import is_suspicious, names_judging
from tests.support.planted_judgements import INNOCENT, PLANTED


@pytest.mark.parametrize("sentence", PLANTED)
def test_a_planted_judgement_is_found(sentence: str) -> None:
    assert is_suspicious(sentence)


@pytest.mark.parametrize("sentence", INNOCENT)
def test_an_ordinary_line_is_not(sentence: str) -> None:
    assert not is_suspicious(sentence)
    assert not names_judging(sentence)


def test_enough_of_both_was_tried() -> None:
    assert len(set(PLANTED)) >= 60
    assert len(set(INNOCENT)) >= 35


@pytest.mark.parametrize("text", ["sc ore", "the exam. iner", "满。分", "full score"])
def test_the_plainest_words_are_found_across_an_edge(text: str) -> None:
    assert names_judging(text)
