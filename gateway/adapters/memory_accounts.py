"""Tenants, accounts and API keys on dictionaries, with the same promises; for tests and for trying things out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID, uuid4

from typing_extensions import override

from gateway.domain.access import KeyId, Role, StoredKey
from gateway.ports import Account, Accounts, Keys


@dataclass(frozen=True, slots=True)
class AccountTables:
    """What both adapters below look into."""

    tenants: dict[str, UUID] = field(default_factory=dict)
    accounts: dict[tuple[UUID, str], Account] = field(default_factory=dict)
    keys: dict[KeyId, tuple[StoredKey, datetime]] = field(default_factory=dict)


class MemoryAccounts(Accounts):
    def __init__(self, *, tables: AccountTables, new_id: Callable[[], UUID] = uuid4) -> None:
        self._tables = tables
        self._new_id = new_id

    @override
    async def tenant(self, slug: str, *, name: str, at: datetime) -> UUID:
        return self._tables.tenants.setdefault(slug, self._new_id())

    @override
    async def tenant_id(self, slug: str) -> UUID | None:
        return self._tables.tenants.get(slug)

    @override
    async def account(self, tenant: UUID, name: str, role: Role, *, at: datetime) -> Account:
        if tenant not in self._tables.tenants.values():
            raise ValueError("there is no such tenant")
        found = self._tables.accounts.setdefault((tenant, name), Account(self._new_id(), tenant, role, name))
        if found.role != role:
            raise ValueError(f"the account {name!r} exists and is of the role {found.role}")
        return found


class MemoryKeys(Keys):
    def __init__(self, *, tables: AccountTables) -> None:
        self._tables = tables

    @override
    async def find(self, key: KeyId) -> StoredKey | None:
        found = self._tables.keys.get(key)
        return None if found is None else found[0]

    @override
    async def add(self, key: StoredKey, *, at: datetime) -> None:
        if key.id in self._tables.keys or self._owner(key) is None:
            raise ValueError("there is a key of this id already, or no such account")
        self._tables.keys[key.id] = key, at

    @override
    async def revoke(self, tenant: UUID, key: KeyId, *, at: datetime) -> bool:
        found = self._tables.keys.get(key)
        if found is None or not _lives(found[0], tenant, at):
            return False
        self._tables.keys[key] = replace(found[0], revoked_at=at), found[1]
        return True

    @override
    async def of_tenant(self, tenant: UUID) -> Sequence[tuple[StoredKey, Account]]:
        owned = ((at, key, self._owner(key)) for key, at in self._tables.keys.values())
        mine = [(at, key, owner) for at, key, owner in owned if owner is not None and owner.tenant == tenant]
        return [(key, owner) for at, key, owner in sorted(mine, key=lambda entry: (entry[0], entry[1].id))]

    def _owner(self, key: StoredKey) -> Account | None:
        return next((account for account in self._tables.accounts.values() if account.principal == key.principal), None)


def _lives(key: StoredKey, tenant: UUID, at: datetime) -> bool:
    unexpired = key.expires_at is None or key.expires_at > at
    return key.principal.tenant == tenant and key.revoked_at is None and unexpired
