"""Which tokenizer files tiktoken can stand in for, and why others not."""

import json
from typing import Any

import pytest

from sessions.adapters.tokenizer_file import ByteBpe
from sessions.domain.merge_ranks import NotExact
from sessions.domain.split_pattern import GPT2, LLAMA3, QWEN
from tests.support import tiny_families
from tests.support.tiny_families import DEEPSEEK, EXACT, LLAMA, QWEN25, Family


def file(family: Family) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(family.tokenizer().to_str())
    return content


@pytest.mark.parametrize("family", EXACT, ids=lambda family: family.name)
def test_each_family_is_understood(family: Family) -> None:
    bpe = ByteBpe(json.dumps(file(family)))
    assert len(bpe.ranks) > 300
    assert {bytes([byte]) for byte in range(256)} <= bpe.ranks.keys()


def test_pattern_and_normal_form_are_the_family_s_own() -> None:
    qwen, llama, gpt2 = (ByteBpe(json.dumps(file(each))) for each in (QWEN25, LLAMA, tiny_families.GPT2))
    assert (qwen.pattern, qwen.form) == (QWEN, "NFC")
    assert (llama.pattern, llama.form) == (LLAMA3, None)
    assert (gpt2.pattern, gpt2.form) == (GPT2, None)


def test_merges_may_be_written_as_one_string() -> None:
    written = file(QWEN25)
    ranks = ByteBpe(json.dumps(written)).ranks
    written["model"]["merges"] = [" ".join(merge) for merge in written["model"]["merges"]]
    assert ByteBpe(json.dumps(written)).ranks == ranks


def test_normalisers_in_a_row_count_by_what_they_are() -> None:
    written = file(QWEN25)
    written["normalizer"] = {"type": "Sequence", "normalizers": [{"type": "NFC"}]}
    assert ByteBpe(json.dumps(written)).form == "NFC"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"model": {"type": "Unigram", "vocab": [["a", 0.5]]}}, "of the kind Unigram"),
        ({"model": {"type": "BPE", "vocab": {}, "merges": [["a"]]}}, "is not understood at model.merges"),
        ({"normalizer": {"type": "NFKC"}}, "NFC alone but NFKC"),
        ({"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Strip"}]}}, "NFC, Strip"),
        ({"pre_tokenizer": None}, "known for: none"),
        ({"pre_tokenizer": {"type": "Metaspace"}}, "known for: Metaspace"),
        ({"pre_tokenizer": {"type": "Split", "pattern": {"String": " "}, "behavior": "Isolated"}}, "for: Split"),
    ],
)
def test_what_cannot_be_had_is_told(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(NotExact, match=why):
        ByteBpe(json.dumps(file(QWEN25) | changes))


@pytest.mark.parametrize(
    "field",
    [{"dropout": 0.1}, {"byte_fallback": True}, {"end_of_word_suffix": "</w>"}, {"continuing_subword_prefix": "##"}],
)
def test_merges_on_more_than_bytes_are_told(field: dict[str, Any]) -> None:
    written = file(QWEN25)
    written["model"] |= field
    with pytest.raises(NotExact, match="more than bytes"):
        ByteBpe(json.dumps(written))


def test_three_splits_in_a_row_are_told() -> None:
    with pytest.raises(NotExact, match="Split, Split, Split, ByteLevel"):
        ByteBpe(json.dumps(file(DEEPSEEK)))
