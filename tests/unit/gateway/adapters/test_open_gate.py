"""A gate that counts nobody."""

from uuid import uuid4

from gateway.adapters.open_gate import OpenGate
from gateway.domain.limits import AccountLimits, Claim, SeatClaim, Spent, TenantLimits


async def test_everybody_comes_in_and_takes_nothing() -> None:
    gate, tenant, session = OpenGate(), uuid4(), uuid4()
    for _ in range(3):
        await gate.seat(SeatClaim(tenant, session, TenantLimits(0)))
        claim = Claim(tenant, uuid4(), AccountLimits(requests_per_minute=1, request_burst=1), session=session)
        async with gate.admit(claim) as one, gate.admit(claim) as other:
            assert (one.lease, one.standing, other.lease) == ("", (), "")
            one.settle(Spent(10, 10))
    await gate.unseat(tenant, None, session)
