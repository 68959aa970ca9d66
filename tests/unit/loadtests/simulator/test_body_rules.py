"""Edges of the ranges; the words are those of the recordings (tests/contract/simulator)."""

import pytest

from loadtests.simulator.body_rules import check_across, check_bias, check_sampling
from loadtests.simulator.errors import Refused


def check(values: dict[str, float], *, n: int = 1) -> None:
    check_sampling(values, n=n, max_tokens=10, stops=())


@pytest.mark.parametrize(
    "values",
    [
        {"temperature": 0.0},
        {"temperature": 2.0},
        {"top_p": 1.0},
        {"top_k": -1},
        {"top_k": 0},
        {"min_p": 0.0},
        {"presence_penalty": -2.0},
        {"frequency_penalty": 2.0},
        {"repetition_penalty": 0.1},
        {"min_tokens": 10},
    ],
)
def test_what_lies_on_the_edge_is_taken(values: dict[str, float]) -> None:
    check(values)


@pytest.mark.parametrize(
    "values",
    [
        {"temperature": float("inf")},
        {"temperature": 2.1},
        {"top_p": 0.0},
        {"top_k": -2},
        {"min_p": 1.1},
        {"presence_penalty": -2.1},
        {"frequency_penalty": 2.1},
        {"repetition_penalty": 0.0},
        {"min_tokens": 11},
    ],
)
def test_what_lies_beyond_is_refused(values: dict[str, float]) -> None:
    with pytest.raises(Refused) as refused:
        check(values)
    assert (refused.value.status, refused.value.kind) == (400, "BadRequestError")


def test_several_choices_need_a_temperature() -> None:
    check({"temperature": 0.5}, n=2)
    check({}, n=2)
    with pytest.raises(Refused):
        check({"temperature": 0}, n=2)


def test_no_more_choices_than_vllm_gives() -> None:
    check({}, n=16384)
    with pytest.raises(Refused, match="n must be at most 16384, got 16385"):
        check({}, n=16385)


def test_a_list_of_prompts_has_an_end_and_a_prompt_of_ids_has_none() -> None:
    check_across({"prompt": ["a"] * 1024})
    check_across({"prompt": [1] * 5000})
    with pytest.raises(Refused, match="prompt list length 1025 exceeds"):
        check_across({"prompt": ["a"] * 1025})


def test_nothing_across_fields_is_wrong_with_a_plain_request() -> None:
    check_across({"messages": [], "stream": True, "stream_options": {"include_usage": True}, "cache_salt": "a"})
    check_across({"logprobs": True, "top_logprobs": 20, "structured_outputs": {"grammar": "x"}})
    check_across({"response_format": {"type": "json_schema", "json_schema": {"schema": {}}}})


@pytest.mark.parametrize("bias", [None, {}, {"5": 1.0, "-1": 2.0}])
def test_biases_are_keyed_by_token_ids(bias: dict[str, float] | None) -> None:
    check_bias(bias)
