"""Every text has ids, ids give it back, and a character that takes two tokens reads as nothing after the first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.simulator.domain.packed_tokens import (
    END,
    START,
    Token,
    bytes_of,
    decode,
    encode,
    readable,
    token_of,
    tokens_of,
)


@given(st.text())
def test_ids_give_the_text_back(text: str) -> None:
    assert decode(encode(text)) == text


@given(st.text())
def test_the_readable_pieces_are_the_text(text: str) -> None:
    assert "".join(token.text for token in tokens_of(text)) == text


@given(st.text(), st.text())
def test_a_message_ends_where_its_end_token_stands_so_prefixes_stay_prefixes(one: str, other: str) -> None:
    first = encode(one + END)
    assert encode(one + END + other)[: len(first)] == first


def test_a_token_of_english_holds_about_four_bytes() -> None:
    text = "The customer says that the price is too high and asks what the service includes. " * 10
    assert 3.3 < len(text) / len(encode(text)) < 4.7


def test_a_chinese_character_is_one_token() -> None:
    assert [token.text for token in tokens_of("你好，世界")] == ["你", "好", "，", "世", "界"]


def test_a_word_takes_the_space_before_it() -> None:
    assert [token.text for token in tokens_of("I am here")] == ["I", " am", " here"]


def test_special_tokens_are_one_id_each_and_have_names() -> None:
    assert encode(f"{START}user{END}") == [1, *encode("user"), 2]
    assert decode([1, 2]) == START + END


def test_an_emoji_takes_two_tokens_and_shows_with_the_second() -> None:
    assert [token.text for token in tokens_of("🙂")] == ["", "🙂"]


def test_a_character_that_never_ends_is_shown_as_unreadable() -> None:
    (half, _) = encode("🙂")
    assert readable([(half, bytes_of(half))]) == [Token(half, "�")]


@pytest.mark.parametrize("number", [-1, 0, 3, 255, 9690])
def test_numbers_that_are_no_ids_read_as_nothing(number: int) -> None:
    assert decode([number]) == ""


def test_a_piece_of_any_length_can_be_one_token() -> None:
    assert decode([token_of("a whole sentence, in one piece")]) == "a whole sentence, in one piece"


def test_half_a_character_becomes_a_question_mark() -> None:
    assert decode(encode("a\ud800b")) == "a?b"


def test_a_token_that_ends_inside_a_character_reads_as_nothing_not_even_its_beginning() -> None:
    assert [token.text for token in tokens_of("so 🙂!")] == ["so", "", " 🙂", "!"]
