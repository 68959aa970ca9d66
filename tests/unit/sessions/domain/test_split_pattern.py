"""A pattern for the steps that are known, and a reason for all others."""

import unicodedata
from collections.abc import Sequence

import pytest
from tiktoken import Encoding
from tokenizers import Regex, pre_tokenizers
from tokenizers.pre_tokenizers import PreTokenizer

from sessions.domain.merge_ranks import BYTE_OF, NotExact
from sessions.domain.split_pattern import (
    GPT2,
    KNOWN,
    QWEN,
    ByteLevel,
    Digits,
    OtherStep,
    Split,
    Step,
    split_pattern,
)
from tests.support.strange_texts import strange_texts

WORDS = ByteLevel(adds_space=False, splits=True)
BYTES = ByteLevel(adds_space=False, splits=False)
DIGITS = Digits(one_by_one=True)


def cut(steps: PreTokenizer, text: str) -> list[bytes]:
    return [bytes(BYTE_OF[character] for character in word) for word, _ in steps.pre_tokenize_str(text)]


def bytes_of(text: str) -> bool:
    """Every library knows its own version of Unicode."""
    return all(unicodedata.category(character) != "Cn" for character in text)


def theirs(pattern: str) -> PreTokenizer:
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"), level])


LEVEL = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
CASES = [
    *((pattern, theirs(pattern)) for pattern in sorted(KNOWN)),
    (GPT2, LEVEL),
    (
        split_pattern([DIGITS, WORDS]),
        pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), LEVEL]),
    ),
]


@pytest.mark.parametrize(("pattern", "steps"), CASES)
def test_words_are_cut_alike(pattern: str, steps: PreTokenizer) -> None:
    """Where each word is a token, what the pattern gives are the words."""
    unicode = (f"ab{c}cd '{c} {c}12{c}.  {c}'S\n{c}" for c in map(chr, range(0x3000)))
    texts = [text for text in (*strange_texts(3000, seed=9), *unicode) if bytes_of(text)]
    cuts = [cut(steps, text) for text in texts]
    ranks = {bytes([byte]): byte for byte in range(256)}
    for word in (word for words in cuts for word in words):
        ranks.setdefault(word, len(ranks))
    encoding = Encoding("words", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    assert [encoding.decode_tokens_bytes(encoding.encode_ordinary(text)) for text in texts] == cuts


@pytest.mark.parametrize(("steps", "pattern"), [([WORDS], GPT2), ([Split(QWEN, is_plain=True), BYTES], QWEN)])
def test_known_steps_have_a_pattern(steps: Sequence[Step], pattern: str) -> None:
    assert split_pattern(steps) == pattern


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ([Split(r"\w+", is_plain=True), BYTES], "none of the known ones"),
        ([Split(QWEN, is_plain=False), BYTES], "none of the known ones"),
        ([ByteLevel(adds_space=True, splits=True)], "a space before a text"),
        ([Split(QWEN, is_plain=True), Split(QWEN, is_plain=True), BYTES], "known for: Split, Split, ByteLevel"),
        ([Split(QWEN, is_plain=True), WORDS], "known for: Split, ByteLevel"),
        ([Digits(one_by_one=False), WORDS], "known for: Digits, ByteLevel"),
        ([OtherStep("Metaspace")], "known for: Metaspace"),
        ([], "known for: none"),
    ],
)
def test_others_are_refused_with_a_reason(steps: Sequence[Step], why: str) -> None:
    with pytest.raises(NotExact, match=why):
        split_pattern(steps)
