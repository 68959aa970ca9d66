"""The models that tenants have chosen, in a column of their rows."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ARRAY, Text, bindparam, select, update
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncEngine
from typing_extensions import override

from sessions.adapters.postgres.tables import tenants
from sessions.adapters.postgres.transaction import begun
from sessions.domain.tiers import Tier
from sessions.domain.viewer import TenantId
from sessions.ports import TenantTiers


class PostgresTenantTiers(TenantTiers):
    def __init__(self, *, engine: AsyncEngine) -> None:
        self._engine = engine

    @override
    async def of(self, tenant: TenantId) -> Mapping[Tier, str]:
        async with begun(self._engine, of=tenant) as work:
            row = await work.one(select(tenants.c.tiers).where(tenants.c.id == tenant))
        return {} if row is None else tiers_of(row.tiers)

    @override
    async def change(self, tenant: TenantId, changes: Mapping[Tier, str | None]) -> None:
        chosen = {tier.value: model for tier, model in changes.items() if model is not None}
        undone = [tier.value for tier, model in changes.items() if model is None]
        # In the row itself, so that nobody's change is lost to another's.
        merged = tenants.c.tiers.op("||")(bindparam("chosen", chosen, JSONB)).op("-")(
            bindparam("undone", undone, ARRAY(Text))
        )
        async with begun(self._engine, of=tenant) as work:
            await work.changed(update(tenants).where(tenants.c.id == tenant).values(tiers=merged))


def tiers_of(stored: Mapping[str, Any]) -> Mapping[Tier, str]:
    """A later version may know kinds of work that this one does not."""
    known = {tier.value: tier for tier in Tier}
    return {known[name]: model for name, model in stored.items() if name in known}
