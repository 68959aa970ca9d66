"""A reply over HTTP: heard in pieces, through the loss of a replica, and through the loss of the router itself."""

import json

import pytest

from gateway.adapters.remote import remote_reply as subject
from gateway.adapters.remote.remote_reply import RemoteReply
from router.domain.chat_call import chat_call
from router.domain.exchange import ChatRequest, Finished, FinishReason, Message, StreamItem, TextPiece, Usage
from router.domain.pin import PinDecision
from router.errors import EngineBroke, EngineTimedOut, EngineUnreachable, NoRoom, RouterError
from tests.support.scripted_line import DONE, END, USAGE, ScriptedAnswer, ScriptedLine, chunk, error

REQUEST = ChatRequest("smollm2", (Message("user", "Hello"),), 64, 0.0, "salt", "session-1-1", "session-1")
CUT = EngineBroke("router", "the connection was lost")
JOINT = b': drillyard {"continued":1,"replica":"b"}\n\n'


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "_PAUSES_S", (0.0, 0.0))


def reply_of(line: ScriptedLine, *, may_continue: bool = True) -> RemoteReply:
    return RemoteReply(line=line, call=chat_call(REQUEST), headers=(("x-a", "b"),), may_continue=may_continue)


async def heard(reply: RemoteReply) -> list[StreamItem]:
    try:
        await reply.open()
        return [item async for item in reply]
    finally:
        await reply.aclose()


def text(items: list[StreamItem]) -> str:
    return "".join(item.text for item in items if isinstance(item, TextPiece))


async def test_a_reply_comes_in_pieces_and_ends_once() -> None:
    whole = chunk("Hel") + chunk("lo") + END
    answer = ScriptedAnswer([whole[n : n + 7] for n in range(0, len(whole), 7)])
    reply = reply_of(ScriptedLine([answer]))
    items = await heard(reply)
    assert text(items) == "Hello"
    end = items[-1]
    assert isinstance(end, Finished)
    assert (end.reason, end.usage) == ("stop", Usage(30, 0, 2))
    assert (reply.replica, reply.pin, reply.continued) == ("a", PinDecision.NEW, 0)
    assert answer.is_closed


async def test_a_reply_without_usage_is_whole_where_engines_need_not_tell_it() -> None:
    line = ScriptedLine([ScriptedAnswer([chunk("Hello"), chunk(finish="stop") + DONE])])
    reply = RemoteReply(line=line, call=chat_call(REQUEST), headers=(), may_continue=False, must_tell_usage=False)
    assert await heard(reply) == [TextPiece("Hello"), Finished(FinishReason.STOP, None)]


async def test_a_joint_in_the_stream_tells_where_the_reply_went_on() -> None:
    reply = reply_of(ScriptedLine([ScriptedAnswer([chunk("Hel"), JOINT + chunk("lo"), END])]))
    assert text(await heard(reply)) == "Hello"
    assert (reply.replica, reply.continued) == ("b", 1)


async def test_a_router_that_dies_is_replaced_by_another_one() -> None:
    other = ScriptedAnswer([chunk("lo"), END], headers={"x-replica-id": "c", "x-session-pin": "kept"})
    lost = ScriptedAnswer([chunk("Hel"), CUT])
    line = ScriptedLine([lost, EngineUnreachable("router", "refused"), other])
    reply = reply_of(line)
    assert text(await heard(reply)) == "Hello"
    assert (reply.replica, reply.pin, reply.continued) == ("c", PinDecision.NEW, 1)
    asked = json.loads(line.sent[-1].body)
    assert asked["messages"][-1] == {"role": "assistant", "content": "Hel"}
    assert asked["continue_final_message"] is True
    assert line.sent[-1].headers == {"x-a": "b"}
    assert lost.is_closed
    assert other.is_closed


async def test_a_router_that_dies_before_the_first_word_leaves_no_trace() -> None:
    line = ScriptedLine(
        [EngineUnreachable("router", "refused"), ScriptedAnswer([CUT]), ScriptedAnswer([chunk("Hi"), END])]
    )
    reply = reply_of(line)
    assert text(await heard(reply)) == "Hi"
    assert reply.continued == 0
    assert len({sent.body for sent in line.sent}) == 1


async def test_what_is_complete_but_for_its_end_is_completed_here() -> None:
    reply = reply_of(ScriptedLine([ScriptedAnswer([chunk("Hi"), chunk(finish="stop") + USAGE, CUT])]))
    items = await heard(reply)
    assert text(items) == "Hi"
    assert isinstance(items[-1], Finished)


@pytest.mark.parametrize(
    "streams",
    [
        [ScriptedAnswer([chunk("Hel"), CUT]), *[EngineTimedOut("router", "silent")] * 2],
        [ScriptedAnswer([chunk("Hel"), b"data: " + error("engine_broke") + b"\n\n"])],
        [ScriptedAnswer([chunk("Hel"), DONE])],
        [ScriptedAnswer([chunk("Hel"), b"data: nonsense\n\n"]), *[ScriptedAnswer([CUT])] * 2],
    ],
    ids=["no router is left", "the router gave up", "no finish", "no JSON"],
)
async def test_a_reply_that_nobody_goes_on_with_is_a_broken_one(streams: list[ScriptedAnswer | Exception]) -> None:
    line = ScriptedLine([*streams, *[EngineUnreachable("router", "refused")] * 3])
    with pytest.raises((EngineBroke, EngineTimedOut, EngineUnreachable)):
        await heard(reply_of(line))


async def test_what_the_router_refused_is_not_tried_again() -> None:
    refused = ScriptedAnswer([error("no_room")], code=503, headers={"retry-after": "7", "x-queue-position": "4"})
    line = ScriptedLine([refused])
    with pytest.raises(NoRoom) as caught:
        await heard(reply_of(line))
    assert (caught.value.retry_after_s, caught.value.position) == (7, 4)
    assert len(line.sent) == 1


async def test_what_a_balancer_says_in_its_place_is_tried_again() -> None:
    down = ScriptedAnswer([b"<html>bad gateway</html>"], code=502)
    assert text(await heard(reply_of(ScriptedLine([down, ScriptedAnswer([chunk("Hi"), END])])))) == "Hi"
    with pytest.raises(EngineUnreachable):
        await heard(reply_of(ScriptedLine([ScriptedAnswer([b"down"], code=502) for _ in range(3)])))


async def test_engines_that_cannot_go_on_are_not_asked_to() -> None:
    line = ScriptedLine([ScriptedAnswer([chunk("Hel"), CUT])])
    with pytest.raises(RouterError):
        await heard(reply_of(line, may_continue=False))
    assert len(line.sent) == 1


async def test_an_event_that_never_ends_is_no_reply() -> None:
    endless = [chunk("Hi"), *[b"data: " + b"x" * 600_000] * 4]
    with pytest.raises(RouterError):
        await heard(reply_of(ScriptedLine([ScriptedAnswer(endless)]), may_continue=False))


async def test_closing_what_was_never_opened_is_nothing() -> None:
    await reply_of(ScriptedLine()).aclose()
