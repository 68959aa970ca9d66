"""A router that does what a test says: it answers by script, refuses, and remembers what it was asked."""

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Self

from router.domain.asks import Asks
from router.domain.exchange import ChatRequest, Finished, FinishReason, StreamItem, TextPiece, Usage
from router.domain.fleet import AffinityKey, Fleet, ReplicaId
from router.domain.pin import PinDecision

END = Finished(FinishReason.STOP, Usage(30, 20, 2))


@dataclass(frozen=True)
class Handover:
    """The replica is lost, and this one goes on."""

    replica: ReplicaId


Step = StreamItem | Exception | Handover


class ScriptedReply:
    def __init__(self, script: Iterable[Step]) -> None:
        self._script: Iterator[Step] = iter(script)
        self.replica = ReplicaId("replica-1")
        self.pin = PinDecision.NEW
        self.continued = 0

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> StreamItem:
        for step in self._script:
            match step:
                case Handover(replica):
                    self.replica, self.continued = replica, self.continued + 1
                case Exception():
                    raise step
                case _:
                    return step
        raise StopAsyncIteration


@dataclass(frozen=True)
class Asked:
    key: AffinityKey
    request: ChatRequest
    asks: Asks


@dataclass
class ScriptedRouter:
    script: Sequence[Step] = (TextPiece("Hel"), TextPiece("lo"), END)
    refusal: Exception | None = None
    seen: Fleet = field(default_factory=Fleet)
    asked: list[Asked] = field(default_factory=list)
    ended: list[AffinityKey] = field(default_factory=list)
    prewarmed: list[ChatRequest] = field(default_factory=list)
    open_turns: int = 0

    @asynccontextmanager
    async def turn(self, key: AffinityKey, request: ChatRequest, *, asks: Asks) -> AsyncIterator[ScriptedReply]:
        self.asked.append(Asked(key, request, asks))
        if self.refusal is not None:
            raise self.refusal
        self.open_turns += 1
        try:
            yield ScriptedReply(self.script)
        finally:
            self.open_turns -= 1

    async def end(self, key: AffinityKey) -> None:
        self.ended.append(key)

    async def prewarm(self, key: AffinityKey, request: ChatRequest) -> None:  # noqa: ARG002  the port's shape
        self.prewarmed.append(request)

    def fleet(self) -> Fleet:
        return self.seen
