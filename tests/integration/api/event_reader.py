"""Server-sent events as a client gets them; comments are counted."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import httpx


@dataclass(frozen=True, slots=True)
class Event:
    id: str
    name: str
    data: dict[str, Any]


@dataclass
class EventReader:
    heartbeats: int = 0
    _tail: bytes = field(default=b"")

    def feed(self, chunk: bytes) -> list[Event]:
        *blocks, self._tail = (self._tail + chunk).split(b"\n\n")
        self.heartbeats += sum(block.startswith(b":") for block in blocks)
        return [_event(block) for block in blocks if not block.startswith(b":")]

    async def read(self, response: httpx.Response) -> AsyncIterator[Event]:
        async for chunk in response.aiter_raw():
            for event in self.feed(chunk):
                yield event


def events_of(body: bytes) -> list[Event]:
    return EventReader().feed(body)


def text_of(events: list[Event]) -> str:
    return "".join(event.data["text"] for event in events if event.name == "delta")


def _event(block: bytes) -> Event:
    fields = dict(line.split(": ", 1) for line in block.decode().split("\n"))
    assert list(fields) == ["id", "event", "data"]
    return Event(fields["id"], fields["event"], json.loads(fields["data"]))
