"""Templates as the models bring them."""

import pytest

from sessions.adapters.chat_template import ChatTemplate, TemplateBroken
from sessions.domain.prompt import Message, Role
from tests.support.tiny_families import LLAMA_TEMPLATE

TALK = (Message(Role.USER, "Hi & <b>你好</b>"), Message(Role.ASSISTANT, "Yes?"), Message(Role.USER, "Go on"))


def _rendered(source: str) -> str:
    return ChatTemplate(source, tokens={"bos_token": "<s>", "eos_token": "</s>"}).render(TALK)


def test_text_is_not_escaped() -> None:
    assert _rendered("{{ messages[0].content }}") == "Hi & <b>你好</b>"
    assert _rendered("{{ messages[0].content | tojson }}") == '"Hi & <b>你好</b>"'
    assert _rendered("{{ {'a': [1]} | tojson(indent=1) }}") == '{\n "a": [\n  1\n ]\n}'


def test_blocks_leave_no_white_space_behind() -> None:
    source = "{% for m in messages %}\n    {% if m.role == 'user' %}\nU{{ loop.index }}\n    {% endif %}\n{% endfor %}"
    assert _rendered(source) == "U1\nU3\n"


def test_special_tokens_have_their_names() -> None:
    assert _rendered("{{ bos_token }}{{ messages[1]['role'] }}{{ eos_token }}") == "<s>assistant</s>"


def test_the_reply_is_begun_and_there_are_no_tools() -> None:
    assert _rendered("{% if add_generation_prompt and not tools and documents is none %}ok{% endif %}") == "ok"


def test_loops_may_be_left_and_the_assistants_part_marked() -> None:
    marked = "{% generation %}{{ m.content }}{% endgeneration %}"
    source = "{% for m in messages %}{% if loop.index == 2 %}" + marked + "{% break %}{% endif %}{% endfor %}"
    assert _rendered(source) == "Yes?"


def test_the_date_never_changes() -> None:
    assert _rendered("{{ strftime_now('%d %b %Y') }}") == "26 Jul 2024"


def test_a_template_that_takes_a_date_is_given_one_and_the_engine_must_be_too() -> None:
    asks = ChatTemplate(LLAMA_TEMPLATE, tokens={"bos_token": "<s>"})
    assert asks.arguments == {"date_string": "26 Jul 2024"}
    assert "Today Date: 26 Jul 2024\n" in asks.render(TALK)
    assert not asks.writes_today


@pytest.mark.parametrize(("source", "writes"), [("{{ strftime_now('%Y') }}", True), ("{{ messages }}", False)])
def test_a_template_that_writes_the_date_by_itself_is_known(source: str, *, writes: bool) -> None:
    template = ChatTemplate(source, tokens={})
    assert (template.arguments, template.writes_today) == ({}, writes)


def test_a_template_may_refuse_the_messages_in_its_own_words() -> None:
    with pytest.raises(TemplateBroken, match="roles must alternate"):
        _rendered("{{ raise_exception('roles must alternate') }}")


@pytest.mark.parametrize(
    "source",
    [
        "{% if %}",
        "{{ ''.__class__.__mro__ }}",
        "{{ messages.append(1) }}",
        "{{ messages[0].content.nothing() }}",
        "{{ 'a' + 1 }}",
        "{{ messages[0]['content'] | nofilter }}",
    ],
)
def test_a_template_can_neither_break_out_nor_fail_with_a_traceback(source: str) -> None:
    with pytest.raises(TemplateBroken):
        _rendered(source)


CALL = {"id": "c", "type": "function", "function": {"name": "price", "arguments": '{"of": "a pump"}'}}
TOOLS = [{"type": "function", "function": {"name": "price"}}]


def test_tools_and_their_calls_are_rendered_as_the_engine_does_it() -> None:
    source = "{{ tools[0].function.name }} {{ messages[0].tool_calls[0].function.arguments.of }}"
    template = ChatTemplate(source, tokens={})
    assert template.render_chat([{"role": "assistant", "content": None, "tool_calls": [CALL]}], TOOLS) == "price a pump"
    empty = {**CALL, "function": {"name": "price", "arguments": ""}}
    said = ChatTemplate("{{ messages[0].tool_calls[0].function.arguments }}", tokens={})
    assert said.render_chat([{"role": "assistant", "content": None, "tool_calls": [empty]}]) == "{}"


def test_arguments_that_are_no_json_are_refused() -> None:
    broken = {**CALL, "function": {"name": "price", "arguments": "{"}}
    with pytest.raises(TemplateBroken, match="not JSON"):
        ChatTemplate("", tokens={}).render_chat([{"role": "assistant", "content": None, "tool_calls": [broken]}])
