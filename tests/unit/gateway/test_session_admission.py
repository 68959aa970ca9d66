"""The start of a session is one request; one that does not start is none."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest
from typing_extensions import override

from gateway.adapters.memory_limit_rows import MemoryLimitRows
from gateway.current_limits import CurrentLimits
from gateway.domain.limits import AccountLimits, Claim, Spent
from gateway.errors import DrillFull
from gateway.limit_ports import Admission
from gateway.limit_settings import LimitSettings
from gateway.session_admission import AdmittedSession, SessionAdmission
from gateway.use_cases import use_cases
from sessions.domain.scenario import ScenarioId
from sessions.domain.session import SessionFilter
from sessions.domain.turn import IdempotencyKey
from sessions.domain.viewer import TenantId
from sessions.errors import IdempotencyKeyReused
from sessions.use_cases.start_session import SessionOrder
from tests.support.counted_seats import CountedSeats, NoSeat
from tests.support.recorded_gate import STANDING, RecordedGate
from tests.support.session_fakes import FakeClock
from tests.support.stage import Stage, staged

Expected = tuple[TenantId, ScenarioId]
KEY = IdempotencyKey("k-1", "digest")


@dataclass
class CrowdedGate(RecordedGate):
    """Lets five in together."""

    crowd: asyncio.Barrier = field(default_factory=lambda: asyncio.Barrier(5))

    @override
    @asynccontextmanager
    async def admit(self, claim: Claim) -> AsyncIterator[Admission]:
        async with super().admit(claim) as admission:
            await self.crowd.wait()
            yield admission


def admission_of(stage: Stage, gate: RecordedGate, expected: list[Expected] | None = None) -> SessionAdmission:
    def expect(tenant: TenantId, scenario: ScenarioId) -> None:
        if expected is not None:
            expected.append((tenant, scenario))

    limits = CurrentLimits(settings=LimitSettings(), store=MemoryLimitRows(), clock=FakeClock().ticks)
    return SessionAdmission(start=stage.use.start_session, gate=gate, limits=limits, expect=expect)


async def test_a_start_is_one_request_without_tokens() -> None:
    stage, gate = await staged(), RecordedGate()
    order = SessionOrder(stage.trainee, stage.scenario.id, {}, KEY)
    admitted = await admission_of(stage, gate)(order)
    assert admitted.standing == STANDING
    claim = gate.claims[0]
    assert (claim.account, claim.limits) == (stage.trainee.account, AccountLimits(600, 120, None, None, 64))
    assert (claim.session, claim.input_tokens, claim.output_tokens) == (None, 0, 0)
    assert gate.admissions[0].spent == [Spent(0, 0)]


async def test_who_has_started_is_expected_to_take_a_turn() -> None:
    stage, expected = await staged(), list[Expected]()
    admission = admission_of(stage, RecordedGate(), expected)
    for _ in range(2):
        await admission(SessionOrder(stage.trainee, stage.scenario.id, {}, KEY))
    assert expected == [(stage.trainee.tenant, stage.scenario.id)]


async def test_asking_again_under_the_same_key_is_free() -> None:
    stage, gate = await staged(), RecordedGate()
    order = SessionOrder(stage.trainee, stage.scenario.id, {}, KEY)
    admission = admission_of(stage, gate)
    first = await admission(order)
    assert await admission(order) == AdmittedSession(first.session)
    with pytest.raises(IdempotencyKeyReused):
        await admission(replace(order, idempotency=IdempotencyKey("k-1", "other")))
    assert len(gate.claims) == 1


async def test_of_many_under_the_same_key_at_once_one_pays() -> None:
    stage, gate = await staged(), CrowdedGate()
    order = SessionOrder(stage.trainee, stage.scenario.id, {}, KEY)
    admission = admission_of(stage, gate)
    admitted = await asyncio.gather(*(admission(order) for _ in range(5)))
    assert len({one.session.id for one in admitted}) == 1
    assert gate.settled == [Spent(0, 0)]
    assert [one.standing for one in admitted if one.standing] == [STANDING]


async def test_without_a_seat_the_request_is_given_back() -> None:
    stage, gate = await staged(), RecordedGate()
    stage.use = use_cases(replace(stage.outside, seats=CountedSeats(free=0)))
    with pytest.raises(NoSeat):
        await admission_of(stage, gate)(SessionOrder(stage.trainee, stage.scenario.id, {}))
    assert (gate.inside, gate.admissions[0].spent) == (0, [])


async def test_what_the_gate_refuses_is_not_written() -> None:
    stage, gate = await staged(), RecordedGate(refusal=DrillFull(retry_after_s=30))
    with pytest.raises(DrillFull):
        await admission_of(stage, gate)(SessionOrder(stage.trainee, stage.scenario.id, {}))
    assert (await stage.use.list_sessions(stage.trainee, SessionFilter(), 10)).items == (stage.session,)
