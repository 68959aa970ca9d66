"""Each recorded exchange once more: the simulator and real vLLM must answer as the recordings say, field by field."""

import json
from pathlib import Path

import pytest

from tests.contract.simulator.conftest import Subject
from tests.support.vllm_recordings import (
    COUNTS,
    FREE_HEADERS,
    HISTORY,
    REPLY_COUNTS,
    VOLATILE,
    WORDS,
    Exchange,
    differences,
    documents,
    recordings,
    send,
)

EXCHANGES = recordings(Path(__file__).parent / "recordings")

# The model makes something up here: another one, or none, says other words and ends elsewhere.
MADE_UP = frozenset(
    {
        "assistant_last_plain",
        "chat_min_tokens_ignore_eos",
        "chat_stream_interval4",
        "chat_stream_logprobs",
        "chat_stream_n2",
        "completion_plain_tokens_prompt",
        "completion_stream",
        "continue_empty",
        "continue_last_is_user",
        "continue_ok_echo",
        "continue_trailing_space",
        "more_chat_content_empty",
        "more_chat_content_missing",
        "more_chat_emoji_stream",
        "more_chat_developer",
        "more_chat_extra_in_message",
        "more_chat_json_object",
        "more_chat_last_user_stream",
        "more_chat_logprobs",
        "more_chat_min_tokens",
        "more_chat_n2_warm",
        "more_chat_n2_warm_stream",
        "more_chat_nul",
        "more_chat_parts_empty",
        "more_chat_prompt_logprobs",
        "more_chat_regex",
        "more_chat_special_in_text",
        "more_chat_structured_json",
        "more_chat_tool_message",
        "more_completion_almost_full",
        "more_completion_default_limit",
        "more_completion_limit_null",
        "more_completion_logprobs",
        "more_completion_logprobs_stream",
        "more_completion_n2_warm",
        "more_completion_n2_warm_stream",
        "more_completion_two",
        "more_completion_two_ids",
        "more_completion_two_stream",
        "prompt_4081_no_max_tokens",
        "prompt_plus_max_tokens_over_limit",
        "role_order_assistant_first",
        "role_order_system_last",
        "role_order_two_users",
        "role_unknown",
        "structured_choice",
        "structured_json",
        "truncate_prompt_tokens",
    }
)
# Their messages list each of vLLM's own types; the simulator says in its own words what is wrong.
OWN_WORDING = frozenset(
    {
        "content_null",
        "more_chat_content_number",
        "more_chat_format_unknown",
        "more_chat_message_text",
        "more_chat_no_role",
        "more_chat_part_no_text",
        "more_chat_part_unknown",
        "more_chat_schema_no_name",
        "more_chat_schema_unsupported",
    }
)
# About ids of the recorded model's tokens.
OF_THE_TOKENIZER = frozenset({"more_chat_stop_token", "more_completion_id_too_large"})


def free_fields(subject: Subject, exchange: Exchange) -> frozenset[str]:
    free = VOLATILE | HISTORY
    if exchange.name in MADE_UP:
        free |= WORDS | REPLY_COUNTS | {"finish_reason", "prompt_logprobs"}
    if is_real_stream(subject, exchange):
        free |= {"content", "text"}
    if not subject.counts_like_the_model:
        # Another vocabulary cuts the same words elsewhere.
        free |= COUNTS | {"tokens", "prompt", "prompt_logprobs"}
        if exchange.is_stream or '"finish_reason":"length"' in exchange.answer:
            free |= WORDS
    if subject.name != "vllm" and exchange.name in OWN_WORDING:
        free |= {"message", "param"}
    return free


def is_real_stream(subject: Subject, exchange: Exchange) -> bool:
    """Real vLLM puts into one event as many tokens as are there when it comes to send it, which no recording knows."""
    return subject.name == "vllm" and exchange.is_stream


def said(text: str) -> str:
    """What the events of a stream say together."""
    told = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: {")]
    choices = [choice for each in told for choice in json.loads(each).get("choices", ())]
    return "".join(choice.get("text") or choice.get("delta", {}).get("content") or "" for choice in choices)


@pytest.mark.parametrize("exchange", EXCHANGES, ids=lambda exchange: exchange.name)
def test_an_answer_is_the_recorded_one(subject: Subject, exchange: Exchange) -> None:
    answer = send(subject.client, exchange)
    if not subject.counts_like_the_model and exchange.name in OF_THE_TOKENIZER:
        assert not answer.is_server_error
        return
    assert answer.status_code == exchange.status, answer.text
    given, recorded = documents(exchange, answer.text), documents(exchange, exchange.answer)
    if is_real_stream(subject, exchange) and exchange.name not in MADE_UP:
        assert said(answer.text) == said(exchange.answer)
    if exchange.name in MADE_UP or is_real_stream(subject, exchange):
        # A reply that is over at once has no text chunk, or the other way round.
        both = given.keys() & recorded.keys()
        given, recorded = ({kind: told[kind] for kind in sorted(both)} for told in (given, recorded))
    found = list(differences(recorded, given, free=free_fields(subject, exchange)))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("exchange", EXCHANGES, ids=lambda exchange: exchange.name)
def test_the_headers_are_the_recorded_ones(subject: Subject, exchange: Exchange) -> None:
    given = {name: value for name, value in send(subject.client, exchange).headers.items() if name not in FREE_HEADERS}
    expected = {name: value for name, value in exchange.answer_headers.items() if name not in FREE_HEADERS}
    assert given == expected
