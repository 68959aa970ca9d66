"""tiktoken gives the tokens of the tokenizer that the engine uses, text by text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from sessions.adapters.tiktoken_encoding import TiktokenEncoding
from sessions.adapters.tokenizer_file import ByteBpe
from sessions.domain.merge_ranks import BYTE_OF
from tests.support.strange_texts import PIECES, strange_texts
from tests.support.tiny_families import EXACT, QWEN25, Family

TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=16).map("".join)


class Told(Exception):
    """It was left to the other library."""


def otherwise(text: str) -> int:
    raise Told(text)


def both(family: Family) -> tuple[Tokenizer, TiktokenEncoding]:
    tokenizer = family.tokenizer()
    return tokenizer, TiktokenEncoding(ByteBpe(tokenizer.to_str()), otherwise=otherwise)


MADE = {family.name: both(family) for family in EXACT}


def without_added(tokenizer: Tokenizer, text: str) -> str:
    for token in tokenizer.get_added_tokens_decoder().values():
        text = text.replace(token.content, "")
    return text


def agree(tokenizer: Tokenizer, encoding: TiktokenEncoding, text: str) -> bool:
    """Whether it was counted at all; when it was, the count must be right."""
    ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
    try:
        assert encoding.count(text) == len(ids)
    except Told:
        return False
    return True


@pytest.mark.parametrize("name", MADE)
def test_three_thousand_strange_texts_have_the_same_counts(name: str) -> None:
    tokenizer, encoding = MADE[name]
    counted = [agree(tokenizer, encoding, without_added(tokenizer, text)) for text in strange_texts(3000)]
    assert sum(counted) > 1500  # pieces that no version of Unicode knows yet are among them on purpose


@pytest.mark.parametrize("name", MADE)
@settings(max_examples=200, deadline=None)
@given(text=TEXTS)
def test_any_text_has_the_same_count(name: str, text: str) -> None:
    tokenizer, encoding = MADE[name]
    agree(tokenizer, encoding, without_added(tokenizer, text))


@pytest.mark.parametrize("name", MADE)
def test_the_tokens_are_the_same_too_and_not_only_their_number(name: str) -> None:
    tokenizer, encoding = MADE[name]
    for text in ("Good morning, it's 12 o'clock.", "请问有什么可以帮您?  \n\n您好", "naïve 😀 bababab aaaaaaa"):
        tokens = tokenizer.encode(text, add_special_tokens=False).tokens
        theirs = [bytes(BYTE_OF[character] for character in token) for token in tokens]
        assert encoding.encoding.decode_tokens_bytes(encoding.encoding.encode_ordinary(text)) == theirs


@pytest.mark.parametrize("text", ["\U0003fffe", "\u0378", "a\U000e0fff", "x" * 100_001])
def test_what_is_not_sure_to_be_read_alike_is_left_to_the_other_library(text: str) -> None:
    _, encoding = MADE["qwen"]
    for _ in range(2):  # nothing of it is remembered as known
        with pytest.raises(Told):
            encoding.count(text)


@pytest.mark.parametrize(("byte", "text"), [(b"\x04", "a\x04b"), (b"\xc3", "cafe\u0301")])
def test_bytes_without_a_token_are_left_to_the_other_library(byte: bytes, text: str) -> None:
    """Also those that only the normal form of a text has."""
    bpe = ByteBpe(QWEN25.tokenizer().to_str())
    bpe.ranks = {token: rank for token, rank in bpe.ranks.items() if token != byte}
    encoding = TiktokenEncoding(bpe, otherwise=lambda _: 77)
    assert encoding.count(text) == 77
    assert encoding.count("ab") <= 2
