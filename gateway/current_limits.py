"""Which limits hold for an account and a tenant now."""

from uuid import UUID

from typing_extensions import override

from gateway.domain.limits import AccountLimits, TenantLimits
from gateway.limit_ports import EffectiveLimits
from gateway.limit_settings import LimitSettings, Some


class CurrentLimits(EffectiveLimits):
    def __init__(self, settings: LimitSettings) -> None:
        self._settings = settings

    @override
    async def of_account(self, tenant: UUID, account: UUID) -> AccountLimits:
        own = self._settings
        return AccountLimits(
            requests_per_minute=_limit(own.requests_per_minute),
            request_burst=_limit(own.request_burst),
            input_tokens_per_minute=_limit(own.input_tokens_per_minute),
            output_tokens_per_minute=_limit(own.output_tokens_per_minute),
            turns_in_flight=_limit(own.turns_in_flight),
        )

    @override
    async def of_tenant(self, tenant: UUID) -> TenantLimits:
        return TenantLimits(_limit(self._settings.tenant_sessions))


def _limit(value: Some) -> int | None:
    return None if value == "unlimited" else value
