"""Walks along a text that is read, and what they tell on the way."""

from collections.abc import Sequence

import pytest

from gateway.domain.moderation.folding import Folding
from gateway.domain.moderation.normalise import Normaliser
from gateway.domain.moderation.readings import Hit, SpeltOut, Walk
from tests.support.phrase_lists import book


def walked(walk: Walk | SpeltOut, text: str) -> Sequence[Hit]:
    """All hits; the text does not end."""
    normaliser = Normaliser(Folding())
    return [hit for at, raw in enumerate(text) for symbol in normaliser.take(raw, at) for hit in walk.read(symbol)]


@pytest.mark.parametrize(
    ("text", "hits"),
    [
        ("spam", []),
        ("spam.", [Hit(0, 4, 0, 4)]),
        ("spa\u0301m\u0301 ", [Hit(0, 6, 0, 4)]),
        ("no, spam eggs", [Hit(4, 8, 0, 4)]),
        ("spam  eggs!", [Hit(0, 4, 0, 4), Hit(0, 10, 1, 8)]),
        ("spammer", []),
        ("x法 轮", [Hit(1, 4, 2, 2)]),
    ],
)
def test_a_walk_finds_what_ends_at_a_symbol(text: str, hits: list[Hit]) -> None:
    assert walked(Walk(book("spam", "spam eggs", "法轮").plain), text) == hits


@pytest.mark.parametrize(
    ("text", "alive"),
    [
        ("", None),
        ("x", None),
        ("x ", None),
        ("x sp", 2),
        ("x spam", 2),
        ("x spam,", 2),
        ("x spam, !", 2),
        ("x spam, e", 2),
        ("x spam, s", 8),
        ("x spamm", None),
        ("法", 0),
        ("法。", 0),
        ("法轮", None),
        ("法轮法", 2),
    ],
)
def test_a_walk_knows_where_the_longest_beginning_starts(text: str, alive: int | None) -> None:
    walk = Walk(book("spam eggs", "法轮").plain)
    walked(walk, text)
    assert walk.alive() == alive


@pytest.mark.parametrize(
    ("text", "hits"),
    [
        ("s p a m", []),
        ("s p a m ", [Hit(0, 7, 0, 4)]),
        ("a s.p-a\u0301 m\u0301 ", [Hit(2, 11, 0, 4)]),
        ("s p a make", []),
        ("sp a m ", []),
        ("spam ", []),
        ("ss p a m ", []),
        ("加 v x ", [Hit(0, 5, 1, 3)]),
        ("加 v x法", [Hit(0, 5, 1, 3)]),
    ],
)
def test_words_in_single_letters_are_found(text: str, hits: list[Hit]) -> None:
    assert walked(SpeltOut(book("spam", "加vx").spaced), text) == hits


@pytest.mark.parametrize(
    ("text", "alive"),
    [
        ("", None),
        ("s", 0),
        ("x", None),
        ("s ", 0),
        ("s p", 0),
        ("s p a m", 0),
        ("s p a m ", None),
        ("s x", None),
        ("s s", 2),
        ("s pa", None),
        ("加", 0),
        ("加 v x", 0),
    ],
)
def test_a_letter_counts_as_single_until_its_word_goes_on(text: str, alive: int | None) -> None:
    spelt = SpeltOut(book("spam", "加vx").spaced)
    walked(spelt, text)
    assert spelt.alive() == alive
