"""Which limits hold for an account and a tenant now, and how operators change them."""

from collections.abc import Callable, Mapping
from uuid import UUID

import structlog
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from gateway.brief_memory import BriefMemory
from gateway.domain.limit_layers import (
    Effective,
    Layers,
    OwnLimits,
    Source,
    TenantOwn,
    account_limits,
    effective,
    settings_of,
    tenant_limits,
    tenant_sessions,
)
from gateway.domain.limits import AccountLimits, TenantLimits
from gateway.errors import AccountNotFound
from gateway.limit_ports import AccountOwn, EffectiveLimits, LimitStore
from gateway.limit_settings import LimitSettings

_log: FilteringBoundLogger = structlog.get_logger(__name__)
_NOBODY = AccountOwn()


class CurrentLimits(EffectiveLimits):
    """What was changed by another process takes effect after `cache_s` seconds."""

    def __init__(self, *, settings: LimitSettings, store: LimitStore, clock: Callable[[], float]) -> None:
        self._settings = settings
        self._store = store
        self._accounts = BriefMemory(ask=self._ask, otherwise=_NOBODY, ttl_s=settings.cache_s, clock=clock)
        self._tenants = BriefMemory(ask=store.of_tenant, otherwise=TenantOwn(), ttl_s=settings.cache_s, clock=clock)

    @override
    async def of_account(self, tenant: UUID, account: UUID) -> AccountLimits:
        found = await self._accounts.get((tenant, account))
        return account_limits(self._layers(found, await self._tenants.get(tenant)))

    @override
    async def of_tenant(self, tenant: UUID) -> TenantLimits:
        return tenant_limits(await self._tenants.get(tenant), self._settings.tenant_sessions)

    async def tenant_table(self, tenant: UUID) -> Mapping[str, Effective]:
        """What holds for an account of no particular role, and for all together, read anew; raises
        `RecordsUnavailable`."""
        own = await self._store.of_tenant(tenant)
        together = tenant_sessions(own, self._settings.tenant_sessions)
        return {**effective(self._layers(_NOBODY, own)), "sessions": together}

    async def account_table(self, tenant: UUID, account: UUID) -> Mapping[str, Effective]:
        """What holds for the account, read anew; raises `AccountNotFound` or `RecordsUnavailable`."""
        found = await self._store.of_account(tenant, account)
        if found is None:
            raise AccountNotFound("there is no such account")
        return effective(self._layers(found, await self._store.of_tenant(tenant)))

    async def set_tenant(self, tenant: UUID, own: TenantOwn) -> None:
        """Instead of all that was set before; raises `RecordsUnavailable`."""
        try:
            await self._store.set_tenant(tenant, own)
        finally:
            self._tenants.forget(tenant)
        _log.info("a tenant's limits are set", tenant=str(tenant), sessions=own.sessions, **settings_of(own.accounts))

    async def set_account(self, tenant: UUID, account: UUID, own: OwnLimits) -> None:
        """Instead of all that was set before; raises `AccountNotFound` or `RecordsUnavailable`."""
        try:
            await self._store.set_account(tenant, account, own)
        finally:
            self._accounts.forget((tenant, account))
        _log.info("an account's limits are set", tenant=str(tenant), account=str(account), **settings_of(own))

    async def _ask(self, key: tuple[UUID, UUID]) -> AccountOwn:
        return await self._store.of_account(*key) or _NOBODY

    def _layers(self, account: AccountOwn, tenant: TenantOwn) -> Layers:
        of_role = None if account.role is None else self._settings.roles.get(account.role)
        return (
            (Source.ACCOUNT, account.own),
            (Source.TENANT, tenant.accounts),
            (Source.ROLE, OwnLimits() if of_role is None else of_role.own()),
            (Source.INSTALLATION, self._settings.everybody()),
        )
