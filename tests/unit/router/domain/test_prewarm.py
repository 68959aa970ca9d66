"""A prewarm asks for the session's prompt and for nothing else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.domain.exchange import Call, CallPath
from router.domain.prewarm import allowed_at_once, prewarm_call

MESSAGES = [{"role": "user", "content": "你好，\u2028 café \ud83d"}]


def call(**fields: object) -> Call:
    body = {"model": "m", "messages": MESSAGES, "stream": True, **fields}
    headers = (("X-Session-ID", "s"), ("Traceparent", "00-1"))
    return Call(CallPath.CHAT, json.dumps(body).encode(), "m", True, "turn-1", headers)


def prewarmed(**fields: object) -> dict[str, object]:
    body: dict[str, object] = json.loads(prewarm_call(call(**fields)).body)
    return body


def test_the_prompt_stays_and_one_token_is_asked_for_in_one_piece() -> None:
    found = prewarm_call(call(max_tokens=500, stream_options={"include_usage": True}, cache_salt="t", user="u"))
    assert json.loads(found.body) == {
        "model": "m",
        "messages": MESSAGES,
        "stream": False,
        "max_tokens": 1,
        "cache_salt": "t",
        "user": "u",
    }
    assert (found.path, found.model, found.is_streamed, found.request_id) == (
        CallPath.CHAT,
        "m",
        False,
        "prewarm-turn-1",
    )
    assert found.headers == (("X-Session-ID", "s"),)


@pytest.mark.parametrize(
    "name", ["min_tokens", "n", "stop", "response_format", "prompt_logprobs", "guided_json", "echo"]
)
def test_what_shapes_the_reply_alone_is_left_out(name: str) -> None:
    assert name not in prewarmed(**{name: 3})


def test_both_names_of_the_limit_are_set() -> None:
    assert prewarmed(max_completion_tokens=90)["max_completion_tokens"] == 1


@pytest.mark.parametrize(
    ("choice", "expected"),
    [("auto", "auto"), ("none", "none"), ("required", "none"), ({"type": "function"}, "none")],
)
def test_tools_are_part_of_the_prompt_and_are_not_called(choice: object, expected: str) -> None:
    found = prewarmed(tools=[{"type": "function"}], tool_choice=choice)
    assert found["tools"] == [{"type": "function"}]
    assert found["tool_choice"] == expected


@pytest.mark.parametrize(("priority", "expected"), [(0, 0), (3, 4), ("x", "x")])
def test_it_steps_back_only_where_priorities_are_known_to_count(priority: object, expected: object) -> None:
    assert prewarmed(priority=priority)["priority"] == expected
    assert "priority" not in prewarmed()


def test_a_completion_is_prewarmed_likewise() -> None:
    body = {"model": "m", "prompt": [1, 2, 3], "max_tokens": 40}
    found = prewarm_call(Call(CallPath.COMPLETIONS, json.dumps(body).encode(), "m", False, "r"))
    assert json.loads(found.body) == {"model": "m", "prompt": [1, 2, 3], "max_tokens": 1, "stream": False}


def test_a_body_that_is_no_json_is_an_error() -> None:
    with pytest.raises(ValueError, match="Expecting"):
        prewarm_call(Call(CallPath.CHAT, b"", "m", False, "r"))


@given(st.integers(0, 10_000), st.floats(0.0, 1.0))
def test_prewarms_take_at_most_their_share_and_one_is_always_allowed(turns: int, share: float) -> None:
    allowed = allowed_at_once(turns, share)
    assert allowed <= max(1, share * turns)
    assert (allowed >= 1) is (share > 0)


def test_while_there_are_few_turns_one_at_a_time_is_sent() -> None:
    assert [allowed_at_once(turns, 0.25) for turns in (0, 3, 4, 8, 40)] == [1, 1, 1, 2, 10]
