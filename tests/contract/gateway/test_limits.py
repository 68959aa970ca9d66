"""What a gate promises, in one process and on Redis."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from uuid import UUID, uuid4

import pytest

from gateway.adapters.limit_scripts import LimitScripts
from gateway.adapters.memory_limits import MemoryGate
from gateway.adapters.redis_limits import RedisGate
from gateway.domain.limits import AccountLimits, Claim, DrillLimits, Spent
from gateway.errors import AccountLimitReached, DrillAtWatermark, DrillFull, TenantFull
from gateway.limit_ports import Admission, Gate
from gateway.local.redis_server import RedisServer
from sessions.errors import SessionBusy
from tests.support.limit_claims import DRILL, TENANT, request_of, seat_of, turn_of
from tests.support.redis_fixture import redis_client_of


@pytest.fixture(params=["memory", pytest.param("redis", marks=pytest.mark.redis)])
async def gate(request: pytest.FixtureRequest) -> AsyncIterator[Gate]:
    if request.param == "memory":
        yield MemoryGate(clock=time.monotonic)
        return
    server: RedisServer = request.getfixturevalue("empty_redis")
    client = redis_client_of(server.url)
    async with RedisGate(LimitScripts(client=client, lease_s=20, seat_s=600, timeout_s=10)) as shared:
        yield shared
    await client.aclose()


async def admitted(gate: Gate, claim: Claim, spent: Spent | None = None) -> Admission:
    async with gate.admit(claim) as admission:
        if spent is not None:
            admission.settle(spent)
    return admission


async def test_of_many_at_once_exactly_as_many_as_may(gate: Gate) -> None:
    limits = AccountLimits(requests_per_minute=1, turns_in_flight=7)
    async with AsyncExitStack() as held:
        asked = (
            held.enter_async_context(gate.admit(turn_of(None, AccountLimits(turns_in_flight=7)))) for _ in range(30)
        )
        answers = await asyncio.gather(*asked, return_exceptions=True)
        refused = [answer for answer in answers if isinstance(answer, AccountLimitReached)]
        assert len(refused) == 23
        assert {error.limit for error in refused} == {"turns_in_flight"}
        assert all(1 <= error.retry_after_s <= 2 for error in refused)
    await admitted(gate, request_of(limits), Spent(0, 0))
    with pytest.raises(AccountLimitReached, match="requests") as slow:
        await admitted(gate, request_of(limits))
    assert 50 < slow.value.retry_after_s <= 60


async def test_a_session_has_one_turn_at_once(gate: Gate) -> None:
    session = uuid4()
    async with gate.admit(turn_of(session)):
        with pytest.raises(SessionBusy) as busy:
            await admitted(gate, turn_of(session))
        assert 1 <= busy.value.retry_after_s <= 2
        await admitted(gate, turn_of())
    await admitted(gate, turn_of(session))


async def test_a_refusal_consumes_nothing(gate: Gate) -> None:
    session = uuid4()
    limits = AccountLimits(
        requests_per_minute=2, input_tokens_per_minute=100, output_tokens_per_minute=100, turns_in_flight=2
    )
    async with gate.admit(turn_of(session)):
        for _ in range(10):
            with pytest.raises(SessionBusy):
                await admitted(gate, turn_of(session, limits, tokens=(50, 50)))
    first = await admitted(gate, turn_of(session, limits, tokens=(60, 10)), Spent(60, 10))
    assert [one.remaining for one in first.standing] == [1, 40, 90]
    for _ in range(10):
        with pytest.raises(AccountLimitReached, match="input tokens"):
            await admitted(gate, turn_of(session, limits, tokens=(60, 10)))
    last = await admitted(gate, turn_of(session, limits, tokens=(30, 80)))
    assert last.standing[0].remaining == 0


async def test_what_was_reserved_is_settled_by_what_was_used(gate: Gate) -> None:
    limits = AccountLimits(output_tokens_per_minute=1_000)
    await admitted(gate, request_of(limits, tokens=(0, 900)), Spent(0, 100))
    after = await admitted(gate, request_of(limits, tokens=(0, 800)))
    assert 100 <= after.standing[0].remaining <= 110
    await admitted(gate, request_of(limits, tokens=(0, 100)), Spent(0, 1_400))
    with pytest.raises(AccountLimitReached, match="output tokens") as indebted:
        await admitted(gate, request_of(limits, tokens=(0, 1)))
    assert 25 < indebted.value.retry_after_s < 31
    assert indebted.value.standing[0].remaining == 0
    await admitted(gate, request_of(limits))


async def test_a_claim_above_the_whole_limit_gets_in_once_all_of_it_is_there(gate: Gate) -> None:
    limits = AccountLimits(input_tokens_per_minute=100)
    whole = await admitted(gate, request_of(limits, tokens=(5_000, 0)))
    assert whole.standing[0].remaining == 0


async def test_seats_are_as_many_as_there_are_and_walk_ins_come_beyond_them(gate: Gate) -> None:
    limits = DrillLimits(seats=3, walk_ins=2)
    sessions = [uuid4() for _ in range(5)]
    for _ in range(2):
        for session in sessions:
            await gate.seat(seat_of(session, drill_limits=limits))
    with pytest.raises(DrillFull):
        await gate.seat(seat_of(drill_limits=limits))
    await gate.unseat(TENANT, DRILL, sessions[0])
    await gate.seat(seat_of(drill_limits=limits))


async def test_a_tenant_has_its_sessions_and_a_refused_one_leaves_no_seat(gate: Gate) -> None:
    limits = DrillLimits(seats=2)
    first = uuid4()
    await gate.seat(seat_of(first, drill_limits=limits, sessions=1))
    for _ in range(3):
        with pytest.raises(TenantFull):
            await gate.seat(seat_of(drill_limits=limits, sessions=1))
    await gate.seat(seat_of(drill_limits=limits, sessions=2))


async def at_watermark(gate: Gate, drill: DrillLimits, *sessions: UUID) -> AsyncExitStack:
    held = AsyncExitStack()
    for session in sessions:
        await held.enter_async_context(gate.admit(turn_of(session, drill=DRILL, drill_limits=drill)))
    return held


async def test_only_walk_ins_are_refused_at_the_watermark(gate: Gate) -> None:
    drill = DrillLimits(seats=3, walk_ins=2, turns_in_flight=2)
    seated, walk_ins = [uuid4() for _ in range(3)], [uuid4() for _ in range(2)]
    for session in [*seated, *walk_ins]:
        await gate.seat(seat_of(session, drill_limits=drill))
    async with await at_watermark(gate, drill, *seated):
        with pytest.raises(DrillAtWatermark) as full:
            await admitted(gate, turn_of(walk_ins[0], drill=DRILL, drill_limits=drill))
        assert 1 <= full.value.retry_after_s <= 2
    async with await at_watermark(gate, drill, *walk_ins):
        await admitted(gate, turn_of(seated[0], drill=DRILL, drill_limits=drill))
        with pytest.raises(DrillAtWatermark):
            await admitted(gate, turn_of(drill=DRILL, drill_limits=drill))


async def test_a_turn_that_is_given_back_leaves_no_seat_that_it_took(gate: Gate) -> None:
    drill = DrillLimits(seats=1)
    await admitted(gate, turn_of(drill=DRILL, drill_limits=drill))
    await gate.seat(seat_of(drill_limits=drill, sessions=1))


async def test_limits_hold_as_they_are_told_with_each_claim(gate: Gate) -> None:
    """A changed limit needs no restart, and a lower one keeps nobody out for longer than a minute."""
    for _ in range(5):
        await admitted(gate, request_of(AccountLimits(requests_per_minute=100)), Spent(0, 0))
    with pytest.raises(AccountLimitReached) as refused:
        await admitted(gate, request_of(AccountLimits(requests_per_minute=2, request_burst=1)))
    assert refused.value.retry_after_s <= 60
    await admitted(gate, request_of(AccountLimits(requests_per_minute=100)))
