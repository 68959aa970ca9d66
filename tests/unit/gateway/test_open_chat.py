"""What a chat completion tells, and what it has cost at each moment at which it may end."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from gateway.domain.limits import Spent
from gateway.domain.moderation.phrases import PhraseList
from gateway.domain.openai_parameters import ParameterPolicy
from gateway.domain.openai_request import asked_chat
from gateway.open_chat import OpenChat
from router.domain.exchange import Call, CallPath
from router.errors import EngineBroke, EngineTimedOut
from tests.support.moderated import banned, released_by
from tests.support.scripted_carrier import PIECES, PROMPT_TOKENS, REPLY, Carried, usual

ESTIMATE = Spent(20, 100)
STREAMED, WHOLE = {"stream": True}, {"stream": False}
COMMENT = b': drillyard {"continued":1}\n\n'


def script(body: dict[str, Any]) -> list[bytes | Exception | asyncio.Event]:
    return usual(Call(CallPath.CHAT, b"", "fake", is_streamed=body["stream"], request_id="chat-1"))


def opened(body: dict[str, Any], steps: Sequence[bytes | Exception | asyncio.Event]) -> OpenChat:
    return carried(body, Carried(list(steps)))


def carried(body: dict[str, Any], call: Carried, *lists: PhraseList) -> OpenChat:
    asked = asked_chat({"model": "fake", "messages": [{"role": "user", "content": "Hi"}], **body}, ParameterPolicy())
    return OpenChat(
        call,
        asked,
        rules=released_by(*lists),
        estimate=ESTIMATE,
        standing=(),
        count=lambda text: len(text.split()),
    )


async def read_all(chat: OpenChat) -> bytes:
    parts = []
    while data := await chat.read():
        parts.append(data)
    return b"".join(parts)


async def test_a_stream_costs_what_the_engine_tells() -> None:
    chat = opened(STREAMED, script(STREAMED))
    told = await read_all(chat)
    assert told.endswith(b"data: [DONE]\n\n")
    assert chat.spent == Spent(PROMPT_TOKENS, len(PIECES) + 1)
    assert (chat.replica, chat.pin) == ("a", "new")


async def test_a_stream_is_done_with_its_end_and_then_only_seen_off() -> None:
    chat = opened(STREAMED, [*script(STREAMED), COMMENT, EngineBroke("a", "late")])
    await chat.see_off()
    seen = [chat.is_done]
    while not chat.is_done:
        await chat.read()
        seen.append(chat.is_done)
    assert seen == [False] * (len(PIECES) + 2) + [True]
    await chat.see_off()
    assert chat.spent == Spent(PROMPT_TOKENS, len(PIECES) + 1)


async def test_a_read_waits_over_what_says_nothing() -> None:
    chat = opened(STREAMED, [COMMENT, *script(STREAMED)])
    assert (await chat.read()).startswith(b"data: ")


async def test_a_stream_that_is_left_costs_what_was_said() -> None:
    chat = opened(STREAMED, script(STREAMED)[:3])
    assert chat.spent == Spent(20, 0)
    await read_all(chat)
    assert chat.spent == Spent(20, 2)


async def test_a_stream_that_breaks_costs_what_was_said() -> None:
    chat = opened(STREAMED, [*script(STREAMED)[:3], EngineBroke("a", "cut off")])
    with pytest.raises(EngineBroke):
        await read_all(chat)
    assert chat.spent == Spent(20, 2)


async def test_what_is_no_event_of_an_engine_breaks_the_stream() -> None:
    with pytest.raises(EngineBroke):
        await opened(STREAMED, [b"data: no\n\n"]).read()


async def test_a_whole_answer_costs_what_the_engine_tells() -> None:
    chat = opened(WHOLE, script(WHOLE))
    assert REPLY.encode() in await chat.read()
    assert chat.spent == Spent(PROMPT_TOKENS, len(PIECES) + 1)


async def test_a_whole_answer_without_usage_is_counted() -> None:
    chat = opened(WHOLE, [b'{"choices":[{"index":0,"message":{"role":"assistant","content":"one two"}}]}'])
    await chat.read()
    assert chat.spent == Spent(20, 2)


async def test_leaving_a_whole_answer_saves_nothing() -> None:
    assert opened(WHOLE, script(WHOLE)).spent == ESTIMATE


@pytest.mark.parametrize("step", [EngineTimedOut("a", "silent"), b"no answer"])
async def test_a_whole_answer_that_breaks_costs_nothing(step: bytes | Exception) -> None:
    chat = opened(WHOLE, [step])
    with pytest.raises((EngineTimedOut, EngineBroke)):
        await chat.read()
    assert chat.spent is None


async def test_a_blocked_stream_stops_the_engine_before_anything_is_told_and_costs_what_was_said() -> None:
    call = Carried([*script(STREAMED), EngineBroke("a", "never read")])
    chat = carried(STREAMED, call, banned("day"))
    told = b""
    while not chat.is_done:
        assert not call.is_closed
        told = await chat.read()
    assert call.is_closed
    assert b'"finish_reason":"content_filter"' in told
    await chat.see_off()
    assert len(call.script) == 3, "nothing more was read of it"
    assert chat.spent == Spent(20, 2)


async def test_a_whole_answer_has_the_words_of_the_blocked_stream() -> None:
    answer = json.loads(await carried(WHOLE, Carried(script(WHOLE)), banned("day")).read())
    (choice,) = answer["choices"]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("Good ", "content_filter")
    assert answer["usage"]["prompt_tokens"] == PROMPT_TOKENS
