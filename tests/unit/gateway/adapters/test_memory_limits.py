from uuid import uuid4

import pytest

from gateway.adapters.memory_limits import MemoryGate
from gateway.domain.limits import AccountLimits, Spent
from gateway.errors import AccountLimitReached
from sessions.errors import SessionBusy
from tests.support.limit_claims import DRILL, TENANT, request_of, seat_of, turn_of


class Hand:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.at = 1_000.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def clock() -> Hand:
    return Hand()


@pytest.fixture
def gate(clock: Hand) -> MemoryGate:
    return MemoryGate(clock=clock)


async def test_a_refusal_says_which_limit_when_and_what_is_left(gate: MemoryGate, clock: Hand) -> None:
    limits = AccountLimits(requests_per_minute=60, request_burst=2)
    for left in (1, 0):
        async with gate.admit(request_of(limits)) as admission:
            admission.settle(Spent(0, 0))
        assert admission.standing[0].remaining == left
    clock.at += 0.25
    with pytest.raises(AccountLimitReached) as refused:
        async with gate.admit(request_of(limits)):
            pass
    assert (refused.value.limit, refused.value.retry_after_s) == ("requests", 0.75)
    assert refused.value.standing[0].remaining == 0


async def test_one_turn_of_a_session_at_once_under_the_lease_that_is_told(gate: MemoryGate) -> None:
    session = uuid4()
    async with gate.admit(turn_of(session)) as admission:
        assert admission.lease
        with pytest.raises(SessionBusy):
            async with gate.admit(turn_of(session)):
                pass
    async with gate.admit(turn_of(session)) as after, gate.admit(request_of()) as other:
        assert after.lease != admission.lease
        assert other.lease == ""


async def test_what_is_not_settled_is_given_back(gate: MemoryGate) -> None:
    limits = AccountLimits(requests_per_minute=1, output_tokens_per_minute=100)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            async with gate.admit(request_of(limits, tokens=(0, 80))):
                raise ZeroDivisionError
    async with gate.admit(request_of(limits, tokens=(0, 80))) as admission:
        admission.settle(Spent(0, 10))
    with pytest.raises(AccountLimitReached, match="requests"):
        async with gate.admit(request_of(limits)):
            pass


async def test_it_forgets_those_who_do_nothing(gate: MemoryGate, clock: Hand) -> None:
    async with gate.admit(turn_of(None, AccountLimits(requests_per_minute=600))) as admission:
        admission.settle(Spent(0, 0))
    book = gate._book
    assert book.rates
    assert not book.claims
    clock.at += 100_000
    for _ in range(1_000):
        async with gate.admit(request_of()):
            pass
    assert not book.rates
    assert not book.tenants


async def test_seats_go_back(gate: MemoryGate) -> None:
    session = uuid4()
    await gate.seat(seat_of(session, sessions=1))
    await gate.unseat(TENANT, DRILL, session)
    await gate.seat(seat_of(sessions=1))
