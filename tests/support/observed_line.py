"""A line between clients and a chat server that stamps what passes: it measures every turn, and has no part in any."""

import asyncio
import json
import time
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit


@dataclass(slots=True)
class ObservedTurn:
    sent_at: float
    text_at: list[float] = field(default_factory=list)
    tokens: int = 0

    @property
    def ttft_s(self) -> float:
        return self.text_at[0] - self.sent_at

    @property
    def e2e_s(self) -> float:
        return self.text_at[-1] - self.sent_at

    @property
    def tpot_s(self) -> float:
        return (self.text_at[-1] - self.text_at[0]) / (self.tokens - 1)

    @property
    def longest_gap_s(self) -> float:
        return max(after - before for before, after in pairwise(self.text_at))


class ObservedLine:
    def __init__(self, server_url: str) -> None:
        self.url = ""
        self.turns: list[ObservedTurn] = []
        self._server = urlsplit(server_url)

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        upstream, to_server = await asyncio.open_connection(self._server.hostname, self._server.port)
        # A connection has one request at a time, so what is said belongs to the one that was sent last.
        own: list[ObservedTurn] = []
        await asyncio.gather(self._asked(reader, to_server, own), self._said(upstream, writer, own))

    async def _asked(self, reader: StreamReader, to_server: StreamWriter, own: list[ObservedTurn]) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(1 << 16):
                if data.startswith(b"POST "):
                    own.append(ObservedTurn(time.time()))
                    self.turns.append(own[-1])
                to_server.write(data)
        to_server.close()

    async def _said(self, upstream: StreamReader, writer: StreamWriter, own: list[ObservedTurn]) -> None:
        tail = b""
        with suppress(ConnectionError):
            while data := await upstream.read(1 << 16):
                at = time.time()
                writer.write(data)
                *lines, tail = (tail + data).split(b"\n")
                for line in lines:
                    if line.startswith(b"data: {"):
                        _heard(own[-1], json.loads(line.removeprefix(b"data: ")), at)
        writer.close()


def _heard(turn: ObservedTurn, event: dict[str, Any], at: float) -> None:
    if event["choices"] and event["choices"][0]["delta"].get("content"):
        turn.text_at.append(at)
    if event.get("usage"):
        turn.tokens = event["usage"]["completion_tokens"]


@asynccontextmanager
async def observed(server_url: str) -> AsyncIterator[ObservedLine]:
    line = ObservedLine(server_url)
    async with await asyncio.start_server(line.serve, "127.0.0.1", 0, limit=1 << 20) as server:
        line.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield line
