"""Claims for the tests of limits."""

from uuid import UUID, uuid4

from gateway.domain.limits import AccountLimits, Claim, DrillLimits, SeatClaim, TenantLimits

TENANT, ACCOUNT, DRILL = (UUID(int=number) for number in (1, 2, 3))
SECOND_US = 1_000_000
NO_LIMITS, NO_DRILL_LIMITS = AccountLimits(), DrillLimits()


def request_of(limits: AccountLimits = NO_LIMITS, *, tokens: tuple[int, int] = (0, 0)) -> Claim:
    return Claim(TENANT, ACCOUNT, limits, input_tokens=tokens[0], output_tokens=tokens[1])


def turn_of(
    session: UUID | None = None,
    limits: AccountLimits = NO_LIMITS,
    *,
    drill: UUID | None = None,
    drill_limits: DrillLimits = NO_DRILL_LIMITS,
    tokens: tuple[int, int] = (0, 0),
) -> Claim:
    return Claim(
        TENANT,
        ACCOUNT,
        limits,
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        session=session or uuid4(),
        drill=drill,
        drill_limits=drill_limits,
    )


def seat_of(
    session: UUID | None = None, *, drill_limits: DrillLimits = NO_DRILL_LIMITS, sessions: int | None = None
) -> SeatClaim:
    return SeatClaim(TENANT, session or uuid4(), TenantLimits(sessions), DRILL, drill_limits)
