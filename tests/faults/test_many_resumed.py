"""A class reads its turns from two gateways, changes between them at random, and loses one of them.

`RESUMED_STREAMS=500` plays as many streams; fewer are enough to notice when something breaks.
"""

import asyncio
import json
import os
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from gateway.cli.event_stream import EventReader, ServerEvent
from tests.support.gateway_process import GatewayProcess, World, world
from tests.support.postgres_fixture import PostgresTemplate

STREAMS = int(os.environ.get("RESUMED_STREAMS", "32"))
PATIENCE_S = 60.0 + STREAMS / 2


@dataclass(frozen=True)
class Class:
    world: World
    other: GatewayProcess

    @property
    def ports(self) -> tuple[int, int]:
        return self.world.gateway.port, self.other.port

    async def ask(self, port: int, method: str, path: str, body: object = None, **headers: str) -> "Answer":
        """Over a connection of its own, in HTTP/1.0, whose answers are not in chunks."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
        sent = b"" if body is None else json.dumps(body).encode()
        known = {
            "Authorization": f"Bearer {self.world.seed.keys.trainees[0]}",
            "Content-Type": "application/json",
            "Content-Length": str(len(sent)),
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in known.items())
        writer.write(f"{method} {path} HTTP/1.0\r\nHost: here\r\n{head}\r\n".encode() + sent)
        try:
            status, *_ = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()
            raise ConnectionResetError from None
        return Answer(int(status.split()[1]), reader, writer)

    async def json(self, port: int, method: str, path: str, body: object = None) -> object:
        async with (await self.ask(port, method, path, body)).closing() as answer:
            assert answer.status < 300, answer.status
            return json.loads(await answer.reader.read())


@dataclass(frozen=True)
class Answer:
    status: int
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @asynccontextmanager
    async def closing(self) -> AsyncIterator["Answer"]:
        try:
            yield self
        finally:
            self.writer.transport.abort()

    async def events(self) -> AsyncIterator[ServerEvent]:
        decoder = EventReader()
        try:
            while chunk := await self.reader.read(65_536):
                for event in decoder.feed(chunk):
                    yield event
        except ConnectionError:
            return


@dataclass
class Reader:
    """One trainee's turn, read with cuts; a lost one is asked for again under its key."""

    room: Class
    session: str
    dice: random.Random
    seen: list[ServerEvent] = field(default_factory=list)
    cuts: int = 0
    losses: int = 0

    @property
    def text(self) -> str:
        return "".join(json.loads(event.data)["text"] for event in self.seen if event.name == "delta")

    async def play(self) -> None:
        while not self.seen or self.seen[-1].name != "done":
            port = self.dice.choice(self.room.ports)
            try:
                async with (await self._asked(port)).closing() as answer:
                    if answer.status == 200:
                        await self._read(answer, self.dice.randint(1, 12))
                    else:
                        assert answer.status in {404, 409, 503}, answer.status
                        await asyncio.sleep(0.2)
            except ConnectionError:
                await asyncio.sleep(0.1)

    async def _asked(self, port: int) -> Answer:
        path = f"/v1/sessions/{self.session}/turns"
        if self.seen:
            headers = {"Accept": "text/event-stream", "Last_Event_ID": self.seen[-1].id}
            return await self.room.ask(port, "GET", f"{path}/1/events", **headers)
        headers = {"Accept": "text/event-stream", "Idempotency_Key": "a-key"}
        return await self.room.ask(port, "POST", path, {"text": "Hello"}, **headers)

    async def _read(self, answer: Answer, patience: int) -> None:
        async for event in answer.events():
            if event.name == "error":
                assert json.loads(event.data)["code"] in {"turn_lost", "server_stopping"}, event.data
                self.seen.clear()
                self.losses += 1
                return
            self.seen.append(event)
            patience -= 1
            if event.name == "done":
                return
            if patience == 0:
                self.cuts += 1
                return


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory, postgres_template: PostgresTemplate) -> Iterator[Class]:
    folder = tmp_path_factory.mktemp("class")
    with (
        postgres_template.copy() as url,
        world(folder, url, LIMITS__TURNS_IN_FLIGHT="unlimited", LIMITS__REQUESTS_PER_MINUTE="unlimited") as made,
        made.gateway.neighbour() as other,
    ):
        for engine in made.engines.values():
            engine.script(reply=" ".join(f"word {number} 字🙂" for number in range(8)), delay_s=0.05)
        yield Class(made, other)


async def played(room: Class) -> list[Reader]:
    scenario = room.world.seed.scenarios[0].id
    dice = random.Random(7)  # noqa: S311
    readers = []
    for number in range(STREAMS):
        session = await room.json(room.ports[number % 2], "POST", "/v1/sessions", {"scenario_id": scenario})
        assert isinstance(session, dict)
        readers.append(Reader(room, session["id"], random.Random(dice.random())))  # noqa: S311
    return readers


async def is_stored_once(room: Class, reader: Reader) -> None:
    page = await room.json(room.ports[1], "GET", f"/v1/sessions/{reader.session}/turns")
    assert isinstance(page, dict)
    assert [(turn["turn"], turn["state"], turn["reply"]) for turn in page["items"]] == [(1, "completed", reader.text)]
    assert len({event.id for event in reader.seen}) == len(reader.seen)


async def test_streams_that_are_cut_at_random_and_resumed_anywhere_lose_and_repeat_nothing(room: Class) -> None:
    readers = await played(room)
    async with asyncio.timeout(PATIENCE_S):
        await asyncio.gather(*(reader.play() for reader in readers))
    for reader in readers:
        await is_stored_once(room, reader)
    assert sum(reader.cuts for reader in readers) > 2 * STREAMS
    assert sum(reader.losses for reader in readers) == 0


async def test_a_gateway_that_is_killed_in_class_loses_and_doubles_no_turn(room: Class) -> None:
    readers = await played(room)

    async def kill() -> None:
        while sum(len(reader.seen) > 2 for reader in readers) < STREAMS / 2:
            assert not all(reader.seen and reader.seen[-1].name == "done" for reader in readers)
            await asyncio.sleep(0.01)
        room.world.gateway.kill()

    async with asyncio.timeout(PATIENCE_S):
        await asyncio.gather(kill(), *(reader.play() for reader in readers))
    room.world.gateway.start()
    for reader in readers:
        await is_stored_once(room, reader)
    assert sum(reader.losses for reader in readers) > 0
