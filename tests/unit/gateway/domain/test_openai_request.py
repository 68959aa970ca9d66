import json
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.openai_parameters import ParameterPolicy
from gateway.domain.openai_request import affinity_of, asked_chat, cohort_of, engine_body, session_name
from gateway.errors import FieldInvalid, ParameterUnsupported

POLICY = ParameterPolicy(reply_tokens=100)
HI = {"role": "user", "content": "Hi"}
BODY: dict[str, Any] = {"model": "smollm2", "messages": [HI]}
TOOLS = [{"type": "function", "function": {"name": "price"}}]


def sent(body: dict[str, Any], **ours: Any) -> dict[str, Any]:
    asked = asked_chat(body, POLICY)
    usual: dict[str, Any] = {"model": "m", "messages": asked.messages, "max_tokens": 5, "cache_salt": "salt"}
    found: dict[str, Any] = json.loads(engine_body(asked, template_arguments={}, **{**usual, **ours}))
    return found


def test_a_plain_request_is_understood() -> None:
    asked = asked_chat(BODY, POLICY)
    assert (asked.model, asked.reply_tokens, asked.is_streamed, asked.wants_usage, asked.user) == (
        *("smollm2", 100, False, False),
        "",
    )


@pytest.mark.parametrize(
    ("options", "wants"),
    [
        (None, False),
        ({}, False),
        ({"include_usage": None}, False),
        ({"include_usage": True}, True),
        ({"include_usage": False, "include_obfuscation": True}, False),
    ],
)
def test_a_stream_tells_its_usage_to_whoever_asks(options: object, wants: bool) -> None:
    assert asked_chat({**BODY, "stream": True, "stream_options": options}, POLICY).wants_usage is wants


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"model": None}, "model"),
        ({"model": ""}, "model"),
        ({"model": "x" * 257}, "model"),
        ({"messages": []}, "messages"),
        ({"stream": 1}, "stream"),
        ({"stream_options": {"include_usage": True}}, "stream_options"),
        ({"stream": True, "stream_options": 1}, "stream_options"),
        ({"stream": True, "stream_options": {"include_usage": 1}}, "stream_options.include_usage"),
        ({"user": ""}, "user"),
        ({"user": "a\nb"}, "user"),
        ({"user": 7}, "user"),
        ({"tool_choice": "auto"}, "tool_choice"),
        ({"max_tokens": 0}, "max_tokens"),
    ],
)
def test_what_is_wrong_is_named(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(FieldInvalid) as refused:
        asked_chat({**BODY, **changes}, POLICY)
    assert refused.value.field == field


def test_no_object_is_no_request() -> None:
    with pytest.raises(FieldInvalid, match="body"):
        asked_chat([BODY], POLICY)


def test_an_option_of_the_stream_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ParameterUnsupported) as refused:
        asked_chat({**BODY, "stream": True, "stream_options": {"continuous_usage_stats": True}}, POLICY)
    assert refused.value.param == "stream_options.continuous_usage_stats"


def test_what_is_ours_stands_over_all_that_was_asked() -> None:
    asked = {**BODY, "cache_salt": "another's", "priority": -5, "max_tokens": 50, "temperature": 0, "tools": TOOLS}
    found = sent({**asked, "tool_choice": "auto"})
    assert found == {
        "model": "m",
        "messages": [HI],
        "temperature": 0,
        "tools": TOOLS,
        "tool_choice": "auto",
        "max_tokens": 5,
        "stream": False,
        "cache_salt": "salt",
    }


def test_a_stream_always_tells_its_usage_to_us() -> None:
    assert sent({**BODY, "stream": True})["stream_options"] == {"include_usage": True}


def test_the_template_is_told_what_was_counted() -> None:
    asked = asked_chat(BODY, POLICY)
    arguments = {"date_string": "26 Jul 2024"}
    written = engine_body(
        asked, model="m", messages=asked.messages, max_tokens=5, cache_salt="s", template_arguments=arguments
    )
    assert json.loads(written)["chat_template_kwargs"] == arguments


@given(st.text(min_size=1, max_size=256).filter(str.isprintable))
def test_the_same_name_never_meets_in_two_tenants(name: str) -> None:
    one, other = uuid4(), uuid4()
    assert session_name("user", name) == name
    assert affinity_of(one, name) == affinity_of(one, name)
    assert affinity_of(one, name) != affinity_of(other, name)
    assert affinity_of(one, name).startswith("chat-")


def test_a_cohort_is_a_tenants_system_prompt() -> None:
    one, other, system = uuid4(), uuid4(), {"role": "system", "content": "Be brief."}
    assert cohort_of(one, [system, HI]) == cohort_of(one, [system])
    assert cohort_of(one, [system]) != cohort_of(other, [system])
    assert cohort_of(one, [HI]) == cohort_of(one, [{**system, "content": ""}]) == ""
