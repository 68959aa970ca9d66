"""Which model serves a kind of work now: the settings, what tenants have chosen, and the fleet as it is."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import structlog
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from gateway.errors import FieldInvalid
from router.domain.fleet import Fleet
from sessions.domain.tiers import Chosen, NoPool, Offer, Tier, Wish, candidates, choose, wish
from sessions.domain.viewer import TenantId
from sessions.errors import PoolUnavailable, RecordsUnavailable
from sessions.ports import TenantTiers, Tiers

_MOST_REMEMBERED = 10_000

_log: FilteringBoundLogger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Pool:
    """The replicas of one model."""

    model: str
    replicas: int
    present: int
    """How many of them take new sessions."""


@dataclass(frozen=True, slots=True)
class TierState:
    """What serves one kind of a tenant's work, where no scenario asks for another model."""

    tier: Tier
    wish: Wish
    is_present: bool
    """Whether the wanted model's pool takes work now."""
    fallbacks: tuple[str, ...]
    serves: Chosen | NoPool


class ModelTiers(Tiers):
    """A tenant's choice may be `ttl_s` old; while the database is away the last known one goes on."""

    def __init__(
        self,
        *,
        offer: Offer,
        tenants: TenantTiers,
        fleet: Callable[[], Fleet],
        clock: Callable[[], float],
        ttl_s: float,
        retry_after_s: float,
    ) -> None:
        self._offer = offer
        self._tenants = tenants
        self._fleet = fleet
        self._clock = clock
        self._ttl_s = ttl_s
        self._retry_after_s = retry_after_s
        self._known: dict[TenantId, tuple[float, Mapping[Tier, str]]] = {}
        self._changes = 0

    @override
    async def choose(
        self, tier: Tier, tenant: TenantId, wanted: Mapping[Tier, str], *, lost: Collection[str] = ()
    ) -> Chosen:
        asked = wish(tier, wanted, await self._of(tenant), self._offer)
        present = self._present()
        if lost:
            present = (frozenset(self._offer.models) if present is None else present).difference(lost)
        found = choose(tier, asked, self._offer, present, leaving=self._leaving(tier).difference(lost))
        if isinstance(found, NoPool):
            raise PoolUnavailable(tier=found.tier, model=found.model, retry_after_s=self._retry_after_s)
        return found

    @override
    async def candidates(self, tier: Tier, tenant: TenantId, wanted: Mapping[Tier, str]) -> Sequence[str]:
        return candidates(tier, wish(tier, wanted, await self._of(tenant), self._offer), self._offer)

    async def table(self, tenant: TenantId) -> tuple[TierState, ...]:
        """Every kind of work, read anew; raises `RecordsUnavailable`."""
        chosen, present = await self._tenants.of(tenant), self._present()
        return tuple(self._state(tier, wish(tier, {}, chosen, self._offer), present) for tier in Tier)

    async def change(self, tenant: TenantId, changes: Mapping[Tier, str | None]) -> None:
        """Take over what the tenant chooses, None for no choice of its own; raises `FieldInvalid` for a model that is
        not served here, or `RecordsUnavailable`.
        """
        for tier, model in changes.items():
            if model is not None and model not in self._offer.models:
                raise FieldInvalid(tier, f"there is no such model here; there are {', '.join(self._offer.models)}")
        self._changes += 1
        try:
            await self._tenants.change(tenant, changes)
        finally:
            self._changes += 1
            self._known.pop(tenant, None)
        _log.info("a tenant's models have changed", tenant=str(tenant), changes={str(k): v for k, v in changes.items()})

    def pools(self) -> tuple[Pool, ...]:
        """The pool of every served model, the default one first."""
        fleet = self._fleet()
        return tuple(Pool(each, len(fleet.pool(each)), len(fleet.open_to(each))) for each in self._offer.models)

    def _state(self, tier: Tier, wanted: Wish, present: frozenset[str] | None) -> TierState:
        return TierState(
            tier=tier,
            wish=wanted,
            is_present=present is not None and wanted.model in present,
            fallbacks=tuple(model for model in self._offer.stand_ins(tier) if model != wanted.model),
            serves=choose(tier, wanted, self._offer, present, leaving=self._leaving(tier)),
        )

    def _present(self) -> frozenset[str] | None:
        """The served models with a replica that takes new sessions; None where no replica has told what it serves."""
        fleet = self._fleet()
        if not any(replica.models for replica in fleet.replicas):
            return None
        return frozenset(model for model in self._offer.models if fleet.open_to(model))

    def _leaving(self, tier: Tier) -> frozenset[str]:
        """The models with a replica that still serves, though it may take no new session; where that matters."""
        if self._offer.stand_ins(tier):
            return frozenset()
        return frozenset(model for replica in self._fleet().ready for model in replica.models)

    async def _of(self, tenant: TenantId) -> Mapping[Tier, str]:
        # Counted from before the question, so that no answer is trusted for longer than promised.
        now, changes, known = self._clock(), self._changes, self._known.get(tenant)
        if known is not None and now < known[0]:
            return known[1]
        try:
            found = await self._tenants.of(tenant)
        except RecordsUnavailable:
            if known is None:
                raise
            return known[1]
        # An answer that crossed a change made here may be the one from before it.
        if changes == self._changes:
            self._remember(tenant, now, found)
        return found

    def _remember(self, tenant: TenantId, now: float, found: Mapping[Tier, str]) -> None:
        self._known.pop(tenant, None)
        self._known[tenant] = now + self._ttl_s, found
        if len(self._known) > _MOST_REMEMBERED:
            del self._known[next(iter(self._known))]
