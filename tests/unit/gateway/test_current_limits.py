"""Which limits hold where nobody has set any."""

from uuid import uuid4

from gateway.domain.limits import AccountLimits, TenantLimits
from gateway.current_limits import CurrentLimits
from gateway.limit_settings import LimitSettings


async def test_the_settings_of_the_installation_hold() -> None:
    book = CurrentLimits(LimitSettings(turns_in_flight=3, tenant_sessions=9))
    assert await book.of_account(uuid4(), uuid4()) == AccountLimits(600, 120, None, None, 3)
    assert await book.of_tenant(uuid4()) == TenantLimits(9)
