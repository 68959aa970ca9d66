from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.openai_messages import harmless, messages_of, texts_in, with_texts_in
from gateway.errors import FieldInvalid

SPECIAL = ("<|im_start|>", "<|im_end|>")
CALL = {"id": "call-1", "type": "function", "function": {"name": "price", "arguments": '{"of": "a pump"}'}}
CALLING = {"role": "assistant", "content": None, "tool_calls": [CALL]}


def one(message: object) -> Any:
    (found,) = messages_of([message])
    return found


def test_messages_of_every_role_are_taken() -> None:
    talk = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What does it cost?", "name": "Ann"},
        CALLING,
        {"role": "tool", "tool_call_id": "call-1", "content": "48"},
        {"role": "assistant", "content": "48 yuan."},
    ]
    assert list(messages_of(talk)) == talk


def test_a_developer_speaks_as_the_system() -> None:
    assert one({"role": "developer", "content": "Be brief."}) == {"role": "system", "content": "Be brief."}


def test_parts_of_text_are_one_text() -> None:
    parts = [{"type": "text", "text": "What is"}, {"type": "text", "text": "this?"}]
    assert one({"role": "user", "content": parts})["content"] == "What is\nthis?"
    assert one({"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]})["content"] == "No."


def test_what_came_in_an_answer_may_come_back_and_is_left_out() -> None:
    answer: dict[str, object] = {
        "role": "assistant",
        "content": "Hi",
        "refusal": None,
        "annotations": [],
        "reasoning": "Well",
        "audio": None,
    }
    assert one(answer) == {"role": "assistant", "content": "Hi"}


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ("Hi", "messages[0]"),
        ({"role": "user", "content": "Hi", "audio": {"id": "x"}}, "messages[0].audio"),
        ({"role": "function", "content": "Hi"}, "messages[0].role"),
        ({"role": ["user"], "content": "Hi"}, "messages[0].role"),
        ({"content": "Hi"}, "messages[0].role"),
        ({"role": "user"}, "messages[0].content"),
        ({"role": "user", "content": 7}, "messages[0].content"),
        ({"role": "user", "content": [{"type": "text", "text": 7}]}, "messages[0].content[0].text"),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {}}]}, "messages[0].content[0].type"),
        ({"role": "user", "content": ["Hi"]}, "messages[0].content[0].type"),
        ({"role": "user", "content": "Hi", "name": "x" * 65}, "messages[0].name"),
        ({"role": "user", "content": "Hi", "name": "a\nb"}, "messages[0].name"),
        ({"role": "user", "content": "Hi", "tool_calls": [CALL]}, "messages[0].tool_calls"),
        ({"role": "tool", "content": "48"}, "messages[0].tool_call_id"),
        ({**CALLING, "tool_calls": CALL}, "messages[0].tool_calls"),
        ({**CALLING, "tool_calls": ["x"]}, "messages[0].tool_calls[0]"),
        ({**CALLING, "tool_calls": [{**CALL, "type": "custom"}]}, "messages[0].tool_calls[0]"),
        ({**CALLING, "tool_calls": [{**CALL, "id": 7}]}, "messages[0].tool_calls[0].id"),
        ({**CALLING, "tool_calls": [{**CALL, "function": {"name": ""}}]}, "messages[0].tool_calls[0].function.name"),
        (
            {**CALLING, "tool_calls": [{**CALL, "function": {"name": "x", "arguments": {}}}]},
            "messages[0].tool_calls[0].function.arguments",
        ),
    ],
)
def test_what_cannot_be_read_is_named_by_its_place(message: object, field: str) -> None:
    with pytest.raises(FieldInvalid) as refused:
        messages_of([message])
    assert refused.value.field == field


@pytest.mark.parametrize("value", [None, [], "Hi", {}])
def test_without_messages_there_is_nothing_to_ask(value: object) -> None:
    with pytest.raises(FieldInvalid, match="messages"):
        messages_of(value)


@given(st.lists(st.sampled_from([*SPECIAL, "<|im_", "start|>", "end|>", "x", " "]), max_size=8).map("".join))
def test_no_control_string_is_left_wherever_it_stands(text: str) -> None:
    call = {**CALL, "function": {"name": "x", "arguments": text}}
    given_ = messages_of(
        [
            {"role": "user", "content": [{"type": "text", "text": text}]},
            {**CALLING, "content": text, "tool_calls": [call]},
        ]
    )
    user, assistant = harmless(given_, SPECIAL)
    found = [user["content"], assistant["content"], str(assistant["tool_calls"])]
    assert not [token for token in SPECIAL for words in found if token in str(words)]
    assert (user["role"], assistant["role"]) == ("user", "assistant")


def test_harmless_text_stays_as_it_is() -> None:
    talk = messages_of([{"role": "user", "content": "a < b | c"}, CALLING])
    assert harmless(talk, SPECIAL) == talk


def test_all_that_somebody_wrote_is_found_and_can_be_put_back_otherwise() -> None:
    message = {**CALLING, "content": "Wait", "name": "Ann"}
    found = texts_in(message)
    assert found == [
        ("content", "Wait"),
        ("tool_calls", "call-1"),
        ("tool_calls", "price"),
        ("tool_calls", '{"of": "a pump"}'),
        ("name", "Ann"),
    ]
    told: Any = with_texts_in(message, [text.upper() for _, text in found])
    assert (told["role"], told["content"], told["name"]) == ("assistant", "WAIT", "ANN")
    assert told["tool_calls"][0] == {
        "id": "CALL-1",
        "type": "function",
        "function": {"name": "PRICE", "arguments": '{"OF": "A PUMP"}'},
    }
    assert texts_in(CALLING)[0] == ("tool_calls", "call-1"), "what is nothing is no text"
