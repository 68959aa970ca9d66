"""What is kept of a reply: its pieces' times, and a digest that tells nothing of its words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.domain.heard import Heard, Pieces, cached_in, count_in, digest_of, object_in, word_of


@given(st.text(), st.text())
def test_equal_texts_alone_have_equal_digests(one: str, other: str) -> None:
    assert (digest_of(one) == digest_of(other)) == (one == other)
    assert Heard(text=one).digest == digest_of(one)


@given(st.lists(st.floats(0.001, 10), min_size=1, max_size=30))
def test_the_longest_gaps_are_kept_longest_first(gaps: list[float]) -> None:
    pieces, at = Pieces(), 0.0
    pieces.add("a", at)
    for gap in gaps:
        at += gap
        pieces.add("b", at)
    kept = pieces.gaps_s
    assert len(kept) == min(8, len(gaps))
    assert all(abs(one - other) < 1e-6 for one, other in zip(kept, sorted(gaps, reverse=True), strict=False))


def test_pieces_say_their_text_and_when_it_began_and_ended() -> None:
    pieces = Pieces()
    assert (pieces.text, pieces.first_at, pieces.last_at, pieces.gaps_s) == ("", None, None, ())
    pieces.add("Hel", 1.0)
    pieces.add("lo", 1.5)
    assert (pieces.text, pieces.first_at, pieces.last_at, pieces.gaps_s) == ("Hello", 1.0, 1.5, (0.5,))


def test_a_count_that_is_not_told_is_none() -> None:
    assert count_in({"prompt_tokens": 7}, "prompt_tokens") == 7
    assert count_in({"prompt_tokens": None}, "prompt_tokens") is None
    assert count_in(None, "prompt_tokens") is None


@pytest.mark.parametrize("value", [True, -1, 1.5, "7", 10**400])
def test_what_is_no_count_is_not_told(value: object) -> None:
    assert count_in({"completion_tokens": value}, "completion_tokens") is None


def test_more_tokens_cached_than_there_were_tells_nothing() -> None:
    assert cached_in({"cached_tokens": 7}, prompt_tokens=7) == 7
    assert cached_in({"cached_tokens": 8}, prompt_tokens=7) is None
    assert cached_in(None, prompt_tokens=7) is None


@pytest.mark.parametrize("text", ["", "7", "{", "[" * 100_000])
def test_what_is_no_object_is_none(text: str) -> None:
    assert object_in(text) is None
    assert object_in('{"a": 1}') == {"a": 1}


def test_a_code_is_one_word() -> None:
    assert word_of("engine_died") == "engine_died"
    assert word_of("[/] a <b>\n") == "_a_b_"
    assert word_of({"x": 1}) == "_x_1_"
    assert len(word_of("x" * 1000)) == 40
