"""A router elsewhere, asked for answers that are not streamed and for streams as they come."""

import pytest

from gateway.adapters.remote.remote_router import RemoteRouter
from router.domain.asks import Asks
from router.domain.exchange import Call, CallPath
from router.domain.fleet import AffinityKey
from router.domain.pin import PinDecision
from router.errors import EngineBroke, EngineUnreachable, NoRoom
from tests.support.scripted_line import END, ScriptedAnswer, ScriptedLine, chunk, error

KEY = AffinityKey("chat-1")
BODY = b'{"model":"smollm2"}'
ANSWER = b'{"object":"chat.completion"}'


def call(*, is_streamed: bool = False) -> Call:
    return Call(CallPath.CHAT, BODY, "smollm2", is_streamed=is_streamed, request_id="chat-1")


def router(line: ScriptedLine) -> RemoteRouter:
    return RemoteRouter(line=line, may_continue=False, must_tell_usage=True)


async def test_a_whole_answer_is_read_once() -> None:
    line = ScriptedLine([ScriptedAnswer([ANSWER[:9], ANSWER[9:]])])
    reply = await router(line).carry(call(), session=KEY, asks=Asks())
    assert (reply.replica, reply.pin) == ("a", PinDecision.NEW)
    assert [await reply.read(), await reply.read()] == [ANSWER, b""]
    reply.close()
    assert (line.sent[0].headers["x-session-id"], line.sent[0].body) == ("chat-1", BODY)


async def test_what_tells_nothing_of_its_place_has_none() -> None:
    line = ScriptedLine([ScriptedAnswer([ANSWER], headers={"x-session-pin": "nonsense"})])
    reply = await router(line).carry(call(), session=None, asks=Asks())
    assert (reply.replica, reply.pin) == ("router", PinDecision.NONE)
    assert "x-session-id" not in line.sent[0].headers


async def test_a_refusal_is_the_error_it_was() -> None:
    line = ScriptedLine([ScriptedAnswer([error("no_room")], code=503)])
    with pytest.raises(NoRoom):
        await router(line).carry(call(), session=KEY, asks=Asks())


async def test_an_answer_that_is_cut_is_a_broken_one() -> None:
    line = ScriptedLine([ScriptedAnswer([ANSWER[:9], EngineBroke("router", "cut")])])
    reply = await router(line).carry(call(), session=KEY, asks=Asks())
    with pytest.raises(EngineBroke):
        await reply.read()


async def test_a_stream_comes_as_its_events() -> None:
    answer = ScriptedAnswer([chunk("Hi"), END])
    reply = await router(ScriptedLine([answer])).carry(call(is_streamed=True), session=KEY, asks=Asks())
    parts = []
    while data := await reply.read():
        parts.append(data)
    assert b"".join(parts) == chunk("Hi") + END
    reply.close()
    assert answer.is_closed


async def test_a_stream_that_never_opened_holds_nothing() -> None:
    answer = ScriptedAnswer([error("no_room")], code=503)
    with pytest.raises(NoRoom):
        await router(ScriptedLine([answer])).carry(call(is_streamed=True), session=KEY, asks=Asks())
    assert answer.is_closed
    away = ScriptedLine([EngineUnreachable("router", "away")] * 3)
    with pytest.raises(EngineUnreachable):
        await router(away).carry(call(is_streamed=True), session=KEY, asks=Asks())
