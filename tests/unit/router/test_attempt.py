"""What an attempt shows to whoever traces, and takes along to the engine; what is asked before a reply goes on."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from typing_extensions import override

from router.domain.exchange import Call, CallPath
from router.domain.fleet import Replica, ReplicaId
from router.domain.pin import PinDecision
from router.domain.trace_parent import trace_parent_of
from router.errors import EngineBroke, EngineRejected
from router.ports import Answer, Engine
from tests.support.deterministic_engine import DeterministicEngine
from tests.support.recorded_tracing import RecordedTracing
from tests.support.relayed_reply import Reply, chat
from tests.support.router_house import MODEL, REQUEST, House, until

CALLER = f"00-{7:032x}-{7:016x}-01"
TRACED = replace(REQUEST, trace_parent=CALLER)


async def test_without_tracing_the_callers_trace_goes_through_untouched() -> None:
    house = House()
    await house.turn(request=TRACED)
    assert trace_parent_of(house.fake.calls[0]) == CALLER


async def test_turn_attempts_and_engine_stand_in_one_line() -> None:
    tracing = RecordedTracing()
    house = House(tracing=tracing)
    home = (await house.turn(request=TRACED))[0]
    carry, attempt = tracing.spans
    assert [(span.name, span.parent) for span in tracing.spans] == [
        ("router.carry", CALLER),
        ("router.attempt", carry.own),
    ]
    assert trace_parent_of(house.fake.calls[0]) == attempt.own
    assert carry.facts == {
        "request_id": REQUEST.request_id,
        "replica": home,
        "pin": PinDecision.NEW,
        "continued": 0,
    }
    assert (carry.failed, attempt.failed) == ("", "")


async def test_a_failed_attempt_and_the_one_that_took_over_are_both_seen() -> None:
    tracing = RecordedTracing()
    house = House(tracing=tracing)
    home = (await house.turn())[0]
    house.fake.fails(home, EngineBroke(home, "cut off"), after_events=3)
    tracing.spans.clear()
    await house.turn()
    carry, lost, taken = tracing.spans
    assert (lost.failed, taken.failed, carry.failed) == ("EngineBroke", "", "")
    assert (lost.parent, taken.parent) == (carry.own, carry.own)
    assert carry.facts["continued"] == 1


async def test_a_turn_that_failed_says_with_what() -> None:
    tracing = RecordedTracing()
    house = House(tracing=tracing)
    home = (await house.turn())[0]
    house.fake.refuses(EngineRejected(home, "too long"))
    tracing.spans.clear()
    with pytest.raises(EngineRejected):
        await house.turn()
    assert [span.failed for span in tracing.spans] == ["EngineRejected", "EngineRejected"]


PIECES = (b"\xe5", b"\xa5\xbd", b"\xe4", b"\xbd", b"\xa0", b"!")
SAMPLED = replace(chat(model=MODEL, max_tokens=50, temperature=0.7), model=MODEL)


class CutAnswer(Answer):
    """One piece, and then the error if there is one."""

    def __init__(self, data: bytes, error: EngineBroke | None) -> None:
        self._pieces = [data]
        self._error = error

    @property
    @override
    def content_type(self) -> str:
        return "text/event-stream"

    @override
    async def read(self) -> bytes:
        if not self._pieces and self._error is not None:
            raise self._error
        return self._pieces.pop() if self._pieces else b""

    @override
    def close(self) -> None:
        self._pieces.clear()


class CutEngine(Engine):
    """The first answer breaks off after its second event, within a character."""

    def __init__(self, *, says: bool = True, is_silent: bool = False) -> None:
        self.model = DeterministicEngine(PIECES, per_event=3)
        self.first = ReplicaId("")
        self.asked: list[tuple[ReplicaId, list[bytes]]] = []
        self._says = says
        self._is_silent = is_silent

    @override
    async def open(self, replica: Replica, call: Call) -> Answer:
        answer = self.model.answer(call)
        if self.first:
            return CutAnswer(answer, None)
        self.first = replica.id
        head = b"\n\n".join(answer.split(b"\n\n")[:3]) + b"\n\n"
        return CutAnswer(head, EngineBroke(replica.id, "cut off"))

    @override
    async def text_of(self, replica: Replica, tokens: Sequence[int]) -> str | None:
        self.asked.append((replica.id, self.model.words(tokens)))
        if self._is_silent:
            await asyncio.Event().wait()
        return self.model.text_of(tokens) if self._says else None


async def test_another_replica_says_where_the_text_of_tokens_ends_that_came_at_once() -> None:
    engine = CutEngine()
    house = House(engine=engine)
    reply = Reply([await house.read(SAMPLED)])
    assert reply.text == b"".join(PIECES).decode()
    assert [words for _, words in engine.asked] == [[*PIECES[:3]], [*PIECES[:2]]]
    assert {replica for replica, _ in engine.asked}.isdisjoint({engine.first})
    assert engine.model.calls[-1].path is CallPath.COMPLETIONS
    assert house.is_idle()


async def test_where_none_says_so_it_goes_on_by_its_text() -> None:
    engine = CutEngine(says=False)
    reply = Reply([await House(engine=engine).read(SAMPLED)])
    assert reply.text == b"".join(PIECES).decode()
    assert len(engine.asked) == 1
    assert engine.model.calls[-1].path is CallPath.CHAT


async def test_where_nothing_is_in_doubt_nobody_is_asked() -> None:
    engine = CutEngine()
    engine.model.per_event = 1
    assert Reply([await House(engine=engine).read(SAMPLED)]).text == b"".join(PIECES).decode()
    assert engine.asked == []


async def test_a_caller_who_goes_while_it_is_asked_leaves_nothing_behind() -> None:
    engine = CutEngine(is_silent=True)
    house = House(engine=engine)
    reading = asyncio.ensure_future(house.read(SAMPLED))
    await until(lambda: bool(engine.asked))
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert house.is_idle()
