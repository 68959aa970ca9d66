"""The stream as an ASGI application: what is sent, and what is left behind when the client goes."""

import asyncio
import gc
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

import pytest
from starlette.types import Message
from typing_extensions import override

from gateway.api.event_text import HEARTBEAT
from gateway.api.turn_stream import TurnStream, turn_headers
from gateway.turn_reader import TurnReader
from sessions.domain.events import Cancelled, Delta, TurnEvent


@dataclass
class Turn:
    """Events by hand: an event is waited for, and the end of each reading is noted."""

    script: list[TurnEvent | asyncio.Event | Exception]
    closed: int = 0

    async def follow(self, _: int) -> AsyncGenerator[tuple[int, TurnEvent], None]:
        try:
            for place, step in enumerate(self.script, start=1):
                match step:
                    case asyncio.Event():
                        await step.wait()
                    case Exception():
                        raise step
                    case _:
                        yield place, step
        finally:
            self.closed += 1

    def stream(self, *, after: int = 0, heartbeat_s: float = 5) -> TurnStream:
        reader = TurnReader(7, "r1", "kept", self.follow)
        return TurnStream(reader, after=after, heartbeat_s=heartbeat_s, headers=turn_headers(reader))


@dataclass
class Client:
    """The other end of an ASGI connection."""

    refuses: bool = False
    sent: list[Message] = field(default_factory=list)
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    patience: tuple[int, asyncio.Event] | None = None
    """After so many heartbeats the event is set."""

    async def receive(self) -> Message:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if self.refuses and message["type"] == "http.response.body":
            raise OSError("the client has gone")
        self.sent.append(message)
        if self.patience is not None and self.bodies.count(HEARTBEAT) >= self.patience[0]:
            self.patience[1].set()

    async def take(self, stream: TurnStream) -> None:
        async with asyncio.timeout(5):
            await stream({"type": "http"}, self.receive, self.send)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    @property
    def bodies(self) -> list[bytes]:
        return [message["body"] for message in self.sent[1:]]


async def test_the_last_event_closes_the_answer() -> None:
    turn, client = Turn([Delta("a"), Delta("b"), Cancelled()]), Client()
    await client.take(turn.stream())
    assert client.sent[0]["status"] == 200
    assert len(client.bodies) == 1
    assert client.sent[-1]["more_body"] is False
    assert turn.closed == 1


async def test_what_was_read_before_is_not_sent_again() -> None:
    client = Client()
    await client.take(Turn([Delta("a"), Delta("b"), Cancelled()]).stream(after=2))
    assert client.bodies == [b"id: 7-3\nevent: cancelled\ndata: {}\n\n"]


async def test_a_quiet_turn_is_kept_alive_by_comments() -> None:
    go_on, client = asyncio.Event(), Client()
    client.patience = (3, go_on)
    await client.take(Turn([go_on, Cancelled()]).stream(heartbeat_s=0.01))
    assert client.bodies[:3] == [HEARTBEAT] * 3
    assert client.bodies[-1].startswith(b"id: 7-2")


@pytest.mark.parametrize("refuses", [False, True])
async def test_a_lost_client_leaves_no_task_and_no_reader(refuses: bool) -> None:
    turn, client = Turn([Delta("a"), asyncio.Event(), Cancelled()]), Client(refuses=refuses)
    if not refuses:
        asyncio.get_running_loop().call_later(0.02, client.gone.set)
    await client.take(turn.stream())
    assert turn.closed == 1
    gc.collect()


async def test_a_cancelled_answer_leaves_no_task_and_no_reader() -> None:
    turn, client = Turn([Delta("a"), asyncio.Event()]), Client()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await turn.stream()({"type": "http"}, client.receive, client.send)
    assert turn.closed == 1
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_broken_reading_cuts_the_answer_off() -> None:
    turn, client = Turn([Delta("a"), ZeroDivisionError()]), Client()
    with pytest.raises(ExceptionGroup):
        await client.take(turn.stream())
    assert all(message.get("more_body", True) for message in client.sent[1:])


def test_only_known_facts_stand_in_the_headers() -> None:
    turn = Turn([])
    assert turn_headers(TurnReader(1, "r1", "new", turn.follow)) == {"X-Replica-ID": "r1", "X-Session-Pin": "new"}
    assert turn_headers(TurnReader(1, None, None, turn.follow)) == {}


@dataclass
class SlowClient(Client):
    """Takes the next piece only when it is asked to."""

    takes: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))

    @override
    async def send(self, message: Message) -> None:
        await self.takes.acquire()
        self.sent.append(message)


async def test_a_slow_client_holds_up_its_reading_which_keeps_little_and_nobody_else() -> None:
    read = 0

    async def follow(_: int) -> AsyncGenerator[tuple[int, TurnEvent], None]:
        nonlocal read
        for place in range(1, 1001):
            read = place
            yield place, Delta("x" * 1000)
        yield 1001, Cancelled()

    client = SlowClient()
    reader = TurnReader(7, "r1", "kept", follow)
    stream = TurnStream(reader, after=0, heartbeat_s=5, headers={})
    answering = asyncio.ensure_future(stream({"type": "http"}, client.receive, client.send))
    client.takes.release()
    await asyncio.sleep(0.05)
    assert 0 < read < 50
    for _ in range(1000):
        client.takes.release()
    await answering
    assert read == 1000
    assert max(len(body) for body in client.bodies) < 40_000
    assert b"".join(client.bodies).count(b"event: delta") == 1000
