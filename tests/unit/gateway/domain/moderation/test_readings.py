"""Walks along a text that is read, and what they tell on the way."""

from collections.abc import Sequence

import pytest

from gateway.domain.moderation.folding import Folding
from gateway.domain.moderation.normalise import Normaliser
from gateway.domain.moderation.readings import GapWalk, Hit, Walk
from tests.support.phrase_lists import book

FOLDING = Folding()


def walked(walk: Walk, text: str) -> tuple[Sequence[Hit], Normaliser]:
    """All hits; the text does not end."""
    normaliser = Normaliser(FOLDING)
    hits = [hit for at, raw in enumerate(text) for symbol in normaliser.take(raw, at) for hit in walk.read(symbol)]
    return hits, normaliser


@pytest.mark.parametrize(
    ("text", "hits"),
    [
        ("spam", []),
        ("spam.", [Hit(0, 4, 0, 4)]),
        ("spa\u0301m\u0301 ", [Hit(0, 6, 0, 4)]),
        ("no, spam eggs", [Hit(4, 8, 0, 4)]),
        ("spam  eggs!", [Hit(0, 4, 0, 4), Hit(0, 10, 1, 8)]),
        ("spammer", []),
        ("sp-am ", []),
        ("x法 轮", [Hit(1, 4, 2, 2)]),
    ],
)
def test_a_walk_finds_what_ends_at_a_symbol(text: str, hits: list[Hit]) -> None:
    found, _ = walked(Walk(book("spam", "spam eggs", "法轮").plain), text)
    assert found == hits


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
        ("sp a.m ", []),
        ("sp am ", []),
        ("sp-am ", [Hit(0, 5, 0, 4)]),
        ("x-s**p**am. ", [Hit(2, 10, 0, 4)]),
        ("sp- am ", []),
        ("sp -am ", []),
        ("sp'am ", []),
        ("s'p'a'm ", [Hit(0, 7, 0, 4)]),
        ("sp法am ", []),
        ("spam ", [Hit(0, 4, 0, 4)]),
        ("spam-m ", [Hit(0, 4, 0, 4)]),
        ("spa-mm ", []),
        ("ss p a m ", []),
        ("加 v x ", [Hit(0, 5, 1, 3)]),
        ("加 v x法", [Hit(0, 5, 1, 3)]),
        ("加v-x ", [Hit(0, 4, 1, 3)]),
        ("b u y it n o w ", [Hit(0, 14, 2, 8)]),
        ("a b u y i t now ", [Hit(2, 15, 2, 8)]),
        ("buy-it-n.ow ", [Hit(0, 11, 2, 8)]),
        ("buy-i-t-n.ow ", [Hit(0, 12, 2, 8)]),
        ("buyit now ", []),
        ("buy -it now ", [Hit(0, 11, 2, 8)]),
        ("8 9 6 4 ", [Hit(0, 7, 3, 4)]),
        ("89.64 8,964 89-64 896-4 ab1-2 ", []),
        ("c3p-o ", [Hit(0, 5, 4, 4)]),
        ("1 8964 ", [Hit(2, 6, 3, 4)]),
        ("c-3 p.o ", [Hit(0, 7, 4, 4)]),
        ("c3-po ", [Hit(0, 5, 4, 4)]),
        ("🇸🇵🇦🇲", [Hit(0, 4, 0, 4)]),
        ("spam🇸🇵 ", [Hit(0, 4, 0, 4)]),
    ],
)
def test_words_are_put_together_over_gaps(text: str, hits: list[Hit]) -> None:
    found, _ = walked(GapWalk(book("spam", "加vx", "buy it now", "8964", "c3po", "ab12").plain), text)
    assert found == hits


def test_what_is_found_in_two_ways_is_told_once() -> None:
    found, _ = walked(GapWalk(book("s", "sp", "s pam", "spam", "pam", "am").plain), "s-p-a-m ")
    assert sorted(found) == sorted(set(found))
    assert {hit.rule for hit in found} == {0, 1, 2, 3, 4, 5}


def test_a_list_whose_phrases_differ_in_spaces_alone_costs_no_more_than_some_ways() -> None:
    variants = ["".join("a" + " " * (number >> at & 1) for at in range(9)) + " a" for number in range(512)]
    found, _ = walked(GapWalk(book(*variants).plain), "a " * 40)
    assert 0 < len({hit.rule for hit in found}) < len(variants)


def test_what_begins_behind_a_gap_is_found_without_it() -> None:
    found, _ = walked(GapWalk(book("sp法轮", "法轮").plain), "s-p法轮")
    assert found == [Hit(3, 5, 1, 2), Hit(0, 5, 0, 4)]


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
        ("sp ", None),
        ("sp-", 0),
        ("sp- ", None),
        ("sp'", None),
        ("sp-a", 0),
        ("sp-ab", None),
        ("spam-", None),
        ("spam.", None),
        ("加", 0),
        ("加 v x", 0),
        ("sp-法", None),
    ],
)
def test_a_gap_holds_what_may_go_on_over_it(text: str, alive: int | None) -> None:
    walk = GapWalk(book("spam", "加vx").plain)
    _, normaliser = walked(walk, text)
    assert walk.alive(may_resume=normaliser.may_resume) == alive
