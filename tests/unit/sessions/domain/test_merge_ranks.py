"""tiktoken merges by these ranks to the very tokens that the listed merges make, or nothing is said to be exact."""

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.domain.merge_ranks import BYTE_OF, NotExact, merge_ranks

LETTERS = "abc"


@st.composite
def files(draw: st.DrawFn) -> tuple[Mapping[str, int], Sequence[tuple[str, str]]]:
    """A vocabulary and merges in any order, also such as no training would give."""
    tokens = [*LETTERS]
    pairs: list[tuple[str, str]] = []
    for _ in range(draw(st.integers(0, 12))):
        left, right = draw(st.sampled_from(tokens)), draw(st.sampled_from(tokens))
        if (left, right) not in pairs and len(left + right) <= 6:
            pairs.append((left, right))
            tokens += [left + right] * (left + right not in tokens)
    return {token: number for number, token in enumerate(tokens)}, draw(st.permutations(pairs))


def by_pairs(merges: Sequence[tuple[str, str]], word: str) -> list[str]:
    """The rule of tokenizer files: the earliest pair first, the leftmost of them."""
    places = {pair: place for place, pair in enumerate(merges)}
    parts = list(word)
    while found := [(places[pair], at) for at, pair in enumerate(pairwise(parts)) if pair in places]:
        _, at = min(found)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return parts


def by_ranks(ranks: Mapping[bytes, int], word: str) -> list[str]:
    """tiktoken's rule: a known word is one token; otherwise the lowest rank first, the leftmost of them."""
    if word.encode() in ranks:
        return [word]
    parts = [letter.encode() for letter in word]
    while found := [(ranks[a + b], at) for at, (a, b) in enumerate(pairwise(parts)) if a + b in ranks]:
        _, at = min(found)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return [part.decode() for part in parts]


WORDS = st.text(LETTERS, min_size=1, max_size=14)


@given(files(), st.lists(WORDS, max_size=8))
def test_words_are_merged_alike(file: tuple[Mapping[str, int], Sequence[tuple[str, str]]], words: list[str]) -> None:
    vocabulary, merges = file
    try:
        ranks = merge_ranks(vocabulary, merges, looks_words_up=False)
    except NotExact:
        return
    for word in [*words, *vocabulary]:
        assert by_ranks(ranks, word) == by_pairs(merges, word)


@given(files(), st.lists(WORDS, max_size=8), st.lists(WORDS, max_size=3))
def test_words_that_are_looked_up_are_found_alike_or_it_says_that_it_cannot(
    file: tuple[Mapping[str, int], Sequence[tuple[str, str]]], words: list[str], whole: list[str]
) -> None:
    vocabulary, merges = file
    vocabulary = reduce(lambda known, word: {word: len(known), **known}, whole, vocabulary)
    try:
        ranks = merge_ranks(vocabulary, merges, looks_words_up=True)
    except NotExact:
        return
    for word in [*words, *vocabulary]:
        assert by_ranks(ranks, word) == ([word] if word in vocabulary else by_pairs(merges, word))


def test_a_merge_before_the_one_that_makes_its_part_is_refused() -> None:
    vocabulary = {"a": 0, "b": 1, "ab": 2, "aba": 3}
    with pytest.raises(NotExact, match="stand before"):
        merge_ranks(vocabulary, [("ab", "a"), ("a", "b")], looks_words_up=False)


def test_every_pair_of_a_token_may_be_listed() -> None:
    """As in Llama 3's file, which was made from ranks."""
    vocabulary = {"a": 0, "b": 1, "ab": 2, "ba": 3, "aba": 4}
    merges = [("a", "b"), ("b", "a"), ("a", "ba"), ("ab", "a")]
    ranks = merge_ranks(vocabulary, merges, looks_words_up=True)
    assert by_ranks(ranks, "ababa") == by_pairs(merges, "ababa")


def test_a_token_that_only_its_parts_would_make_is_refused_where_words_are_looked_up() -> None:
    vocabulary = {"a": 0, "b": 1, "ab": 2}
    with pytest.raises(NotExact, match="no merge"):
        merge_ranks(vocabulary, [], looks_words_up=True)
    assert merge_ranks(vocabulary, [], looks_words_up=False) == {b"a": 0, b"b": 1}


def test_bytes_are_written_as_characters_that_can_be_seen() -> None:
    assert sorted(BYTE_OF.values()) == list(range(256))
    assert (BYTE_OF["A"], BYTE_OF["Ġ"], BYTE_OF["Ċ"], BYTE_OF["ÿ"]) == (0x41, 0x20, 0x0A, 0xFF)


def test_tokens_of_other_characters_are_left_out() -> None:
    vocabulary = {"a": 0, "好": 1, "a好": 2, "▁a": 3}
    assert merge_ranks(vocabulary, [("a", "好")], looks_words_up=True) == {b"a": 0}
