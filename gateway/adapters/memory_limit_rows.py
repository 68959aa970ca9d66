"""The limits that operators have set, in dictionaries."""

from uuid import UUID

from typing_extensions import override

from gateway.domain.limit_layers import OwnLimits, TenantOwn
from gateway.errors import AccountNotFound
from gateway.limit_ports import AccountOwn, LimitStore


class MemoryLimitRows(LimitStore):
    def __init__(self) -> None:
        self.accounts: dict[tuple[UUID, UUID], AccountOwn] = {}
        """Whoever is to be there must be put in."""
        self._tenants: dict[UUID, TenantOwn] = {}

    @override
    async def of_tenant(self, tenant: UUID) -> TenantOwn:
        return self._tenants.get(tenant, TenantOwn())

    @override
    async def of_account(self, tenant: UUID, account: UUID) -> AccountOwn | None:
        return self.accounts.get((tenant, account))

    @override
    async def set_tenant(self, tenant: UUID, own: TenantOwn) -> None:
        self._tenants[tenant] = own

    @override
    async def set_account(self, tenant: UUID, account: UUID, own: OwnLimits) -> None:
        known = self.accounts.get((tenant, account))
        if known is None:
            raise AccountNotFound("there is no such account")
        self.accounts[tenant, account] = AccountOwn(known.role, own)
