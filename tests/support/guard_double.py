"""A server that speaks vLLM's chat completions as a guard model does, well or badly."""

import asyncio
import json
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from tests.support.loopback_server import a_server_that, one_request

SAFE: Final = "Safety: Safe\nCategories: None\nRefusal: No"
UNSAFE: Final = "Safety: Unsafe\nCategories: Violent\nRefusal: No"
DOUBTFUL: Final = "Safety: Controversial\nCategories: Politically Sensitive Topics\nRefusal: No"


@dataclass(frozen=True, slots=True)
class Asked:
    head: str
    body: dict[str, object]
    said: Sequence[str]
    """The contents of the messages, in their order."""


@dataclass
class GuardDouble:
    """It finds unsafe what ends with a sentence that has an `unsafe` word in it, and so on; the last text counts."""

    url: str = ""
    unsafe: Sequence[str] = ("bomb", "炸弹")
    doubtful: Sequence[str] = ("politics",)
    says: tuple[str, str, str] = (SAFE, DOUBTFUL, UNSAFE)
    fault: str = ""
    """`500`, `400`, `401`: this status; `silent`: no answer; `cut`: half of one; `slow`: a byte now and then;
    `nonsense`: no completion; `prose`: a completion of other words; `endless`: more than anybody reads."""
    waits: Callable[[str], asyncio.Event | None] = lambda _: None
    """For which texts an answer waits, and for what."""
    asked: list[Asked] = field(default_factory=list)
    running: int = 0
    most_at_once: int = 0
    given_up: int = 0
    """Calls whose caller went away first."""

    @property
    def judged(self) -> list[str]:
        return [each.said[-1] for each in self.asked]

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        while True:
            head, raw = await one_request(reader)
            body = json.loads(raw)
            said = [message["content"] for message in body["messages"]]
            self.asked.append(Asked(head.decode(), body, said))
            self.running += 1
            self.most_at_once = max(self.most_at_once, self.running)
            try:
                await self._answer(said[-1], reader, writer)
            finally:
                self.running -= 1

    async def _answer(self, text: str, reader: StreamReader, writer: StreamWriter) -> None:
        if (event := self.waits(text)) is not None:
            await self._unless_gone(event, reader)
        if self.fault == "silent":
            await self._unless_gone(asyncio.Event(), reader)
        body = json.dumps(self._body(text)).encode()
        status = self.fault if self.fault.isdecimal() else "200"
        length = 10_000_000 if self.fault in {"endless", "cut"} else len(body)
        writer.write(
            f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n".encode()
        )
        if self.fault == "cut":
            writer.write(body[: len(body) // 2])
            await writer.drain()
            raise ConnectionResetError
        if self.fault == "slow":
            for at in range(len(body)):
                writer.write(body[at : at + 1])
                await writer.drain()
                await asyncio.sleep(0.1)
        if self.fault == "endless":
            body = b" " * length
        writer.write(body)
        await writer.drain()

    async def _unless_gone(self, event: asyncio.Event, reader: StreamReader) -> None:
        gone, come = asyncio.ensure_future(reader.read(1)), asyncio.ensure_future(event.wait())
        try:
            await asyncio.wait({gone, come}, return_when=asyncio.FIRST_COMPLETED)
            if gone.done():
                self.given_up += 1
                raise ConnectionResetError
        finally:
            gone.cancel()
            come.cancel()

    def _body(self, text: str) -> object:
        if self.fault == "nonsense":
            return {"choices": [{"message": {"content": None, "reasoning_content": SAFE}}]}
        content = "I would rather not say." if self.fault == "prose" else self._ruling(text)
        message = {"role": "assistant", "content": content}
        return {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}

    def _ruling(self, text: str) -> str:
        safe, doubtful, unsafe = self.says
        if any(word in text for word in self.unsafe):
            return unsafe
        return doubtful if any(word in text for word in self.doubtful) else safe


@asynccontextmanager
async def guard_double() -> AsyncIterator[GuardDouble]:
    double = GuardDouble()
    async with a_server_that(double.serve) as served:
        double.url = served.url
        yield double
