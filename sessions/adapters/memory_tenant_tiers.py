"""The models that tenants have chosen, on a dictionary; for tests and for trying things out."""

from collections.abc import Mapping

from typing_extensions import override

from sessions.domain.tiers import Tier
from sessions.domain.viewer import TenantId
from sessions.ports import TenantTiers


class MemoryTenantTiers(TenantTiers):
    """Knows every tenant."""

    def __init__(self) -> None:
        self._chosen: dict[TenantId, Mapping[Tier, str]] = {}

    @override
    async def of(self, tenant: TenantId) -> Mapping[Tier, str]:
        return self._chosen.get(tenant, {})

    @override
    async def change(self, tenant: TenantId, changes: Mapping[Tier, str | None]) -> None:
        merged = {**self._chosen.get(tenant, {}), **changes}
        self._chosen[tenant] = {tier: model for tier, model in merged.items() if model is not None}
