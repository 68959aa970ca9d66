"""The answer by itself: what it does when the client goes, whichever way a server tells of that."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import pytest
from starlette.types import Message
from typing_extensions import override

from gateway.api.chat_answer import ChatAnswer
from gateway.api.lost_client import ClientGone
from gateway.domain.access import Principal, Role
from gateway.domain.limits import Spent
from gateway.domain.openai_parameters import ParameterPolicy
from gateway.domain.openai_request import asked_chat
from gateway.errors import ModelNotServed
from gateway.open_chat import OpenChat
from gateway.openai_chats import ChatOrder, OpenAiChats
from router.domain.exchange import Call, CallPath
from tests.support.moderated import released_by
from tests.support.scripted_carrier import Carried, usual

ORDER = ChatOrder(Principal(uuid4(), uuid4(), Role.SERVICE), {})
CALL = Call(CallPath.CHAT, b"", "fake", is_streamed=True, request_id="chat-1")
Script = list[bytes | Exception | asyncio.Event]


class Chats(OpenAiChats):
    """One chat, of this script; or a refusal."""

    def __init__(self, script: Script, refusal: Exception | None = None) -> None:
        self.carried, self._refusal = Carried(script), refusal

    @override
    @asynccontextmanager
    async def open(self, order: ChatOrder) -> AsyncIterator[OpenChat]:
        if self._refusal is not None:
            raise self._refusal
        body = {"model": "fake", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
        asked = asked_chat(body, ParameterPolicy())
        try:
            yield OpenChat(self.carried, asked, rules=released_by(), estimate=Spent(1, 1), standing=(), count=len)
        finally:
            self.carried.close()


class Client:
    """A server's two ends; `stays_for` messages are taken before it has gone."""

    def __init__(self, *, stays_for: int = 1000) -> None:
        self.sent: list[Message] = []
        self.gone = asyncio.Event()
        self._stays_for = stays_for

    async def receive(self) -> Message:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if len(self.sent) >= self._stays_for:
            raise OSError("the client has gone")
        self.sent.append(message)

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)

    async def ask(self, chats: Chats, *, heartbeat_s: float = 10.0) -> None:
        await ChatAnswer(chats, ORDER, heartbeat_s=heartbeat_s)({"type": "http"}, self.receive, self.send)


async def test_a_stream_goes_out_as_it_comes() -> None:
    client, chats = Client(), Chats(usual(CALL))
    await client.ask(chats)
    assert client.sent[0]["status"] == 200
    assert client.body.endswith(b"data: [DONE]\n\n")
    assert [message.get("more_body", False) for message in client.sent[1:]] == [True] * (len(client.sent) - 2) + [False]
    assert chats.carried.is_closed


async def test_the_end_is_told_when_all_is_given_back() -> None:
    client, chats = Client(), Chats(usual(CALL))
    closed_at: list[int] = []
    chats.carried.when_closed = lambda: closed_at.append(len(client.sent))
    await client.ask(chats)
    assert closed_at == [len(client.sent) - 1]


async def test_a_refusal_reaches_whoever_writes_it() -> None:
    client = Client()
    with pytest.raises(ModelNotServed):
        await client.ask(Chats([], ModelNotServed("x")))
    assert client.sent == []


@pytest.mark.parametrize("taken", [0, 1, 2])
async def test_a_server_that_takes_no_more_has_lost_the_client(taken: int) -> None:
    client, chats = Client(stays_for=taken), Chats(usual(CALL))
    with pytest.raises(ClientGone):
        await client.ask(chats)
    assert chats.carried.is_closed


async def test_a_client_that_goes_while_nothing_comes_is_noticed() -> None:
    client, chats = Client(), Chats([asyncio.Event()])
    asyncio.get_running_loop().call_later(0.05, client.gone.set)
    with pytest.raises(ClientGone):
        await client.ask(chats)
    assert chats.carried.is_closed


async def test_silence_is_broken_by_comments_and_talk_is_not() -> None:
    silence = asyncio.Event()
    asyncio.get_running_loop().call_later(0.3, silence.set)
    client, (first, *rest) = Client(), usual(CALL)
    await client.ask(Chats([first, silence, *rest]), heartbeat_s=0.05)
    assert 2 <= client.body.count(b": still here\n\n") <= 6
    lively = Client()
    await lively.ask(Chats(usual(CALL)), heartbeat_s=0.05)
    assert b": still here" not in lively.body
