"""The router's words and errors as sessions know them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import uuid4

import pytest

from gateway.router_tutor import RouterTutor
from router.adapters.memory_pins import MemoryPins
from router.adapters.static_fleet import StaticFleet
from router.domain.exchange import ChatRequest, Finished, FinishReason, StreamItem, TextPiece
from router.domain.exchange import Usage as EngineUsage
from router.domain.fleet import Health, Replica, ReplicaId
from router.errors import EngineBroke, EngineBusy, EngineRejected, EngineTimedOut, EngineUnreachable
from router.service import Router
from router.settings import RouterSettings
from sessions.domain.prompt import Message, Role
from sessions.domain.session import SessionId
from sessions.domain.turn import Usage
from sessions.domain.viewer import TenantId
from sessions.errors import TutorBroke, TutorRejected, TutorUnavailable
from sessions.ports import Piece, ReplyEnd, TutorRequest

END = Finished(FinishReason.STOP, EngineUsage(30, 20, 2))


@dataclass
class ScriptedEngine:
    """Answers with these items; an exception among them is raised in its place."""

    script: Sequence[StreamItem | Exception] = (TextPiece("Hel"), TextPiece("lo"), END)
    refusal: Exception | None = None
    requests: list[ChatRequest] = field(default_factory=list)

    @asynccontextmanager
    async def stream(self, replica: Replica, request: ChatRequest) -> AsyncIterator[AsyncIterator[StreamItem]]:
        self.requests.append(request)
        if self.refusal is not None:
            raise self.refusal
        assert replica.is_ready
        yield self._items()

    async def _items(self) -> AsyncIterator[StreamItem]:
        for item in self.script:
            if isinstance(item, Exception):
                raise item
            yield item


def tutor(engine: ScriptedEngine, *, health: Health = Health.READY) -> RouterTutor:
    fleet = StaticFleet(replicas=[Replica(ReplicaId("replica-1"), "http://127.0.0.1:1", health)])
    router = Router(pins=MemoryPins(ttl_s=60), fleet=fleet, engine=engine, settings=RouterSettings())
    return RouterTutor(router=router, model="smollm2", temperature=0.5, retry_after_s=3)


def request(session: SessionId | None = None, tenant: TenantId | None = None) -> TutorRequest:
    return TutorRequest(
        session=session or SessionId(uuid4()),
        tenant=tenant or TenantId(uuid4()),
        turn=4,
        messages=(Message(Role.SYSTEM, "Be a customer."), Message(Role.USER, "Hello")),
        max_tokens=64,
    )


async def test_a_reply_comes_in_pieces_and_ends_with_its_usage() -> None:
    engine = ScriptedEngine()
    async with tutor(engine).reply(request()) as reply:
        items = [item async for item in reply.items]
    assert (reply.replica, reply.pin) == ("replica-1", "new")
    assert items == [Piece("Hel"), Piece("lo"), ReplyEnd("stop", Usage(30, 20, 2))]
    sent = engine.requests[0]
    assert [(m.role, m.content) for m in sent.messages] == [("system", "Be a customer."), ("user", "Hello")]
    assert (sent.model, sent.max_tokens, sent.temperature) == ("smollm2", 64, 0.5)
    assert sent.request_id == f"{sent.session_id}-4"


async def test_a_tenant_has_one_cache_salt_and_no_two_tenants_the_same() -> None:
    engine, tenant = ScriptedEngine(), TenantId(uuid4())
    one = tutor(engine)
    for asked in (request(tenant=tenant), request(tenant=tenant), request()):
        async with one.reply(asked):
            pass
    salts = [sent.cache_salt for sent in engine.requests]
    assert salts[0] == salts[1] != salts[2]
    assert str(tenant) not in salts[0]


async def test_a_forgotten_session_is_placed_anew() -> None:
    one, session = tutor(ScriptedEngine()), SessionId(uuid4())
    pins = []
    for _ in range(2):
        async with one.reply(request(session)) as reply:
            pins.append(reply.pin)
    await one.forget(session)
    async with one.reply(request(session)) as reply:
        pins.append(reply.pin)
    assert pins == ["new", "kept", "new"]


@pytest.mark.parametrize(
    ("refusal", "expected"),
    [
        (EngineUnreachable("replica-1", "refused"), TutorUnavailable),
        (EngineTimedOut("replica-1", "silent"), TutorUnavailable),
        (EngineBusy("replica-1", "full"), TutorUnavailable),
        (EngineRejected("replica-1", "bad: what the trainee said"), TutorRejected),
    ],
)
async def test_a_refusal_is_told_without_the_engine_s_words(refusal: Exception, expected: type[Exception]) -> None:
    with pytest.raises(expected) as caught:
        async with tutor(ScriptedEngine(refusal=refusal)).reply(request()):
            pass
    assert "what the trainee said" not in str(caught.value)


async def test_without_a_replica_the_caller_learns_when_to_try_again() -> None:
    with pytest.raises(TutorUnavailable) as caught:
        async with tutor(ScriptedEngine(), health=Health.DOWN).reply(request()):
            pass
    assert caught.value.retry_after_s == RouterSettings().retry_after_s


@pytest.mark.parametrize("error", [EngineBroke("replica-1", "cut"), EngineTimedOut("replica-1", "stalled")])
async def test_a_reply_that_breaks_later_is_a_broken_one(error: Exception) -> None:
    engine = ScriptedEngine(script=(TextPiece("Hel"), error))
    async with tutor(engine).reply(request()) as reply:
        items = reply.items
        assert await anext(items) == Piece("Hel")
        with pytest.raises(TutorBroke):
            await anext(items)
