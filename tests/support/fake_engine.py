"""An `Engine` in this process that says one reply, or what is left of it, and fails where it is told to."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from typing_extensions import override

from router.domain.exchange import Call, Finished, FinishReason, StreamItem, TextPiece, Usage
from router.domain.fleet import Replica, ReplicaId
from router.errors import EngineError
from router.ports import Answer, Engine
from tests.support.vllm_wire import DONE, Generation

PIECES = ("Good ", "day, ", "what ", "can ", "I ", "do ", "for ", "you?")
REPLY = "".join(PIECES)
PROMPT_TOKENS = 9
WHOLE_REPLY: tuple[StreamItem, ...] = (
    *map(TextPiece, PIECES),
    Finished(FinishReason.STOP, Usage(PROMPT_TOKENS, 0, len(PIECES) + 1)),
)
WHOLE_BODY = b'{"object":"chat.completion"}'


@dataclass(frozen=True)
class Failure:
    """After so many events; no error: it falls silent."""

    after_events: int
    error: EngineError | None


class FakeEngine(Engine):
    """Every event is one read. It is counted what is open, and by whom it was asked."""

    def __init__(self) -> None:
        self.asked: list[ReplicaId] = []
        self.calls: list[Call] = []
        self.open_answers = 0
        self.frozen: set[ReplicaId] = set()
        """They never answer."""
        self.on_read: Callable[[ReplicaId, int], None] = lambda *_: None
        """Called while a read waits, with how many went before it."""
        self._refusals: dict[ReplicaId, EngineError] = {}
        self._ends: dict[ReplicaId, int] = {}
        self._failures: dict[ReplicaId, Failure] = {}

    def refuses(self, error: EngineError) -> None:
        """Opening raises it, at the replica the error names."""
        self._refusals[ReplicaId(error.replica)] = error

    def fails(self, replica: ReplicaId, error: EngineError | None, *, after_events: int) -> None:
        self._failures[replica] = Failure(after_events, error)

    def ends_early(self, replica: ReplicaId, *, after_events: int) -> None:
        """Its streams end after so many events as if they were whole."""
        self._ends[replica] = after_events

    def heal(self) -> None:
        self._ends.clear()
        self._refusals.clear()
        self._failures.clear()
        self.frozen.clear()

    @override
    async def open(self, replica: Replica, call: Call) -> Answer:
        self.asked.append(replica.id)
        self.calls.append(call)
        await asyncio.sleep(0)
        if replica.id in self.frozen:
            await asyncio.Event().wait()
        if replica.id in self._refusals:
            raise self._refusals[replica.id]
        self.open_answers += 1
        events = events_of(call) if call.is_streamed else [WHOLE_BODY[:10], WHOLE_BODY[10:]]
        events = events[: self._ends.get(replica.id, len(events))]
        return FakeAnswer(self, replica.id, call=call, events=events, failure=self._failures.get(replica.id))


class FakeAnswer(Answer):
    def __init__(
        self, engine: FakeEngine, replica: ReplicaId, *, call: Call, events: list[bytes], failure: Failure | None
    ) -> None:
        self._engine = engine
        self._replica = replica
        self._is_streamed = call.is_streamed
        self._events = iter(events)
        self._failure = failure
        self._read = 0
        self._take: Callable[[bytes], bool] | None = None
        self._is_open = True

    @property
    @override
    def content_type(self) -> str:
        return "text/event-stream; charset=utf-8" if self._is_streamed else "application/json"

    @override
    async def read(self) -> bytes:
        while True:
            data = await self._next()
            if not data or self._take is None or not self._take(data):
                return data

    @override
    def short_cut(self, take: Callable[[bytes], bool] | None) -> None:
        self._take = take

    async def _next(self) -> bytes:
        await asyncio.sleep(0)
        self._engine.on_read(self._replica, self._read)
        if self._failure is not None and self._read == self._failure.after_events:
            if self._failure.error is None:
                await asyncio.Event().wait()
            else:
                raise self._failure.error
        self._read += 1
        return next(self._events, b"")

    @override
    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._engine.open_answers -= 1


def events_of(call: Call) -> list[bytes]:
    """The stream's events; a reply that another replica has begun is gone on with."""
    begun = _begun(call)
    rest = _pieces_after(begun)
    answer = Generation("chatcmpl-1", call.model, rest, "stop", PROMPT_TOKENS + len(PIECES) - len(rest), 0)
    usage = answer.chunk(choices=[], usage=answer.usage())
    return [answer.role(), *map(answer.text, rest), answer.finish("", "stop"), usage, DONE]


def _begun(call: Call) -> str:
    """What another replica has said of it."""
    last = json.loads(call.body)["messages"][-1]
    return str(last["content"]) if last["role"] == "assistant" else ""


def _pieces_after(begun: str) -> list[str]:
    assert REPLY.startswith(begun), "the reply was not begun like this"
    ends = [0]
    for piece in PIECES:
        ends.append(ends[-1] + len(piece))
    cuts = [len(begun), *(end for end in ends if end > len(begun))]
    return [REPLY[start:end] for start, end in pairwise(cuts)]
