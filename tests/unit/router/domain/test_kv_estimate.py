"""The KV of a call, guessed from its bytes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.domain.kv_estimate import kv_estimate


def body(**fields: object) -> bytes:
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": "hello " * 100}], **fields}).encode()


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_the_limit_of_the_reply_counts(name: str) -> None:
    few, many = (kv_estimate(body(**{name: limit}), most=1) for limit in (10, 1_000))
    assert many - few == pytest.approx(990, abs=2)


def test_a_limit_in_the_middle_or_without_spaces_is_found_too() -> None:
    text = json.dumps({"max_tokens": 7, "model": "m"}, separators=(",", ":")).encode()
    assert kv_estimate(text, most=1) == len(text) // 4 + 7


@pytest.mark.parametrize("told", [None, "much", -1, 1.5, [3]])
def test_without_a_number_some_reply_is_assumed(told: object) -> None:
    text = body(max_tokens=told)
    assert kv_estimate(text, most=1) == len(text) // 4 + 512
    assert kv_estimate(body(), most=1) == len(body()) // 4 + 512


def test_a_session_that_told_its_size_does_not_count_more() -> None:
    assert kv_estimate(body(max_tokens=100_000), most=4_096) == 4_096
    assert kv_estimate(b"{}", most=4_096) == 512


def test_nobodys_words_pass_for_a_limit() -> None:
    said = json.dumps({"messages": ['"max_tokens": 9999']}).encode()
    assert kv_estimate(said, most=1) == len(said) // 4 + 512


@given(st.binary(max_size=200))
def test_any_bytes_give_some_number(text: bytes) -> None:
    assert kv_estimate(text, most=1) >= 0
