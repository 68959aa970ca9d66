"""What a turn takes at the gate, what it gives back, and what it is settled by."""

import asyncio
from dataclasses import replace

import pytest

from gateway.domain.limits import Spent
from gateway.limit_ports import Gate
from gateway.turn_admission import Claims, TurnAdmission
from gateway.use_cases import use_cases
from sessions.adapters.memory_turn_lock import MemoryTurnLock
from sessions.domain.turn import TurnState
from sessions.errors import SessionBusy, TutorUnavailable
from sessions.use_cases.open_turn import Stop
from tests.support.moderated import banned, moderation
from tests.support.open_admission import OpenClaims
from tests.support.recorded_gate import STANDING, RecordedGate
from tests.support.stage import Stage, staged


def _fail(text: str) -> None:
    raise ZeroDivisionError(text)


def admission_of(stage: Stage, gate: Gate, claims: Claims | None = None) -> TurnAdmission:
    return TurnAdmission(take_turn=stage.use.take_turn, gate=gate, claims=claims or OpenClaims())


async def test_a_turn_is_let_in_and_settled_by_what_the_engine_counted() -> None:
    stage, gate, claims = await staged(), RecordedGate(), OpenClaims()
    async with admission_of(stage, gate, claims).begin(stage.order()) as admitted:
        assert gate.inside == 1
        assert admitted.standing == STANDING
        finished = await admitted.turn.run(lambda _: None)
    assert gate.inside == 0
    assert gate.claims[0].session == stage.session.id
    assert gate.admissions[0].spent == [Spent(finished.usage.prompt_tokens, finished.usage.completion_tokens)]
    assert finished.usage.prompt_tokens > 0
    assert claims.learned == [(stage.session.id, finished.usage)]


async def test_a_cancelled_turn_is_settled_by_what_it_was_shown_and_had_said() -> None:
    stage, gate = await staged(), RecordedGate()
    stage.tutor.script = ("Hello there", asyncio.Event())
    async with admission_of(stage, gate).begin(stage.order()) as admitted:
        finished = await admitted.turn.run(lambda _: admitted.turn.stop(Stop.CANCELLED))
        shown = admitted.turn.prompt_tokens
    assert finished.state is TurnState.CANCELLED
    assert gate.admissions[0].spent == [Spent(shown, 2)]


async def test_a_turn_whose_row_cannot_be_written_has_spent_what_it_spent() -> None:
    stage, gate = await staged(), RecordedGate()
    with pytest.raises(ZeroDivisionError):
        async with admission_of(stage, gate).begin(stage.order()) as admitted:
            await admitted.turn.run(_fail)
    assert [spent.input_tokens > 0 for spent in gate.admissions[0].spent] == [True]


async def test_a_blocked_message_is_let_in_spends_nothing_and_teaches_nothing() -> None:
    stage, gate, claims = await staged(), RecordedGate(), OpenClaims()
    stage.use = use_cases(replace(stage.outside, moderation=moderation(banned("free money"))))
    async with admission_of(stage, gate, claims).begin(stage.order("free money")) as admitted:
        assert admitted.standing == STANDING
        finished = await admitted.turn.run(lambda _: None)
    assert finished.state is TurnState.BLOCKED
    assert (len(gate.claims), gate.admissions[0].spent, claims.learned) == (1, [Spent(0, 0)], [])


async def test_a_turn_that_is_refused_after_the_gate_settles_nothing() -> None:
    stage, gate = await staged(), RecordedGate()
    stage.tutor.refusal = TutorUnavailable("nobody", retry_after_s=2)
    with pytest.raises(TutorUnavailable):
        async with admission_of(stage, gate).begin(stage.order()):
            pass
    assert (gate.inside, gate.admissions[0].spent) == (0, [])


async def test_what_the_gate_refuses_reaches_no_tutor() -> None:
    stage, gate = await staged(), RecordedGate(refusal=SessionBusy(retry_after_s=1))
    with pytest.raises(SessionBusy):
        async with admission_of(stage, gate).begin(stage.order()):
            pass
    assert not stage.tutor.requests


async def test_the_lease_that_the_gate_took_is_the_one_the_turn_holds() -> None:
    stage, gate, lock = await staged(), RecordedGate(), MemoryTurnLock()
    stage.use = use_cases(replace(stage.outside, lock=lock))
    async with (
        lock.hold(stage.session.id, taken="lease-1"),
        admission_of(stage, gate).begin(stage.order()) as admitted,
    ):
        await admitted.turn.run(lambda _: None)
    async with lock.hold(stage.session.id, taken="another"):
        with pytest.raises(SessionBusy):
            await admission_of(stage, gate).begin(stage.order()).__aenter__()
