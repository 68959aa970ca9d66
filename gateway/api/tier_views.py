"""What callers get to see of the models that serve their tenant's work."""

from typing import Self

from gateway.api.views import View
from gateway.model_tiers import ModelTiers, TierState
from sessions.domain.tiers import Chosen
from sessions.domain.viewer import TenantId


class PoolView(View):
    model: str
    replicas: int
    present: int
    """How many of the replicas take new sessions."""


class TierView(View):
    tier: str
    model: str
    source: str
    """Who has chosen it: tenant, installation, or default where nobody has."""
    ready: bool
    fallbacks: tuple[str, ...]
    """What stands in for it while its pool is away, in turn."""
    serves: str | None
    """What serves now; null: nothing may."""
    fell_back: bool

    @classmethod
    def of(cls, state: TierState) -> Self:
        serves = state.serves
        return cls(
            tier=state.tier,
            model=state.wish.model,
            source=state.wish.source,
            ready=state.is_present,
            fallbacks=state.fallbacks,
            serves=serves.model if isinstance(serves, Chosen) else None,
            fell_back=isinstance(serves, Chosen) and serves.fell_back,
        )


class ModelTiersView(View):
    tiers: tuple[TierView, ...]
    pools: tuple[PoolView, ...]

    @classmethod
    async def of(cls, tiers: ModelTiers, tenant: TenantId) -> Self:
        table = await tiers.table(tenant)
        return cls(
            tiers=tuple(TierView.of(state) for state in table),
            pools=tuple(PoolView.model_validate(pool) for pool in tiers.pools()),
        )
