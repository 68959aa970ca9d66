"""Texts have the length that was wanted, and are the same again."""

from hypothesis import given
from hypothesis import strategies as st

from loadtests.domain.sized_text import text_of, text_of_blocks


@given(st.text(max_size=20), st.integers(1, 500))
def test_a_text_has_as_many_letters_as_were_wanted_and_is_the_same_again(name: str, letters: int) -> None:
    assert len(text_of(name, letters)) == letters
    assert text_of(name, letters) == text_of(name, letters)


def test_a_longer_text_begins_like_the_shorter_one_and_another_name_is_another_text() -> None:
    assert text_of("a", 500).startswith(text_of("a", 200))
    assert text_of("a", 200) != text_of("b", 200)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=10), st.integers(2, 40), st.integers(1, 40))
def test_equal_blocks_are_equal_text_and_all_have_the_wanted_length(blocks: list[int], size: int, rest: int) -> None:
    letters = size * (len(blocks) - 1) + rest
    text = text_of_blocks("a", tuple(blocks), block_letters=size, letters=letters)
    assert len(text) == letters
    longer = text_of_blocks("a", (*blocks, 99), block_letters=size, letters=size * len(blocks) + rest)
    assert longer[: size * (len(blocks) - 1)] == text[: size * (len(blocks) - 1)]


def test_equal_blocks_of_another_name_are_another_text() -> None:
    one, other = (text_of_blocks(name, (1, 2), block_letters=40, letters=80) for name in ("a", "b"))
    assert one[:20] != other[:20]
