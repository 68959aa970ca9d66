"""Tenants, accounts and API keys on dictionaries, with the same promises; for tests and for trying things out."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID, uuid4

from typing_extensions import override

from gateway.access_ports import KeyLedger
from gateway.domain.access import LIVE_KEYS, KeyId, KeyState, Role, StoredKey
from gateway.errors import AccountRefused, TooManyKeys
from gateway.ports import Account, Accounts, Keys


class MemoryAccounts(Accounts, Keys, KeyLedger):
    """All three ports over the same dictionaries."""

    def __init__(self, *, new_id: Callable[[], UUID] = uuid4) -> None:
        self._new_id = new_id
        self._tenants: dict[str, UUID] = {}
        self._accounts: dict[tuple[UUID, str], Account] = {}
        self._keys: dict[KeyId, tuple[StoredKey, datetime]] = {}

    @override
    async def tenant(self, slug: str, *, name: str, at: datetime) -> UUID:
        return self._tenants.setdefault(slug, self._new_id())

    @override
    async def tenant_id(self, slug: str) -> UUID | None:
        return self._tenants.get(slug)

    @override
    async def account(self, tenant: UUID, name: str, role: Role, *, at: datetime) -> Account:
        if tenant not in self._tenants.values():
            raise AccountRefused("there is no such tenant")
        found = self._accounts.setdefault((tenant, name), Account(self._new_id(), tenant, role, name))
        if found.role != role:
            raise AccountRefused(f"the account {name!r} exists and is of the role {found.role}")
        return found

    @override
    async def person(self, tenant: UUID, name: str, role: Role, display_name: str | None, *, at: datetime) -> UUID:
        if tenant not in self._tenants.values():
            raise AccountRefused("there is no such tenant")
        return self._accounts.setdefault((tenant, name), Account(self._new_id(), tenant, role, name)).id

    @override
    async def find(self, key: KeyId) -> StoredKey | None:
        found = self._keys.get(key)
        return None if found is None else found[0]

    @override
    async def add(self, key: StoredKey, *, at: datetime) -> None:
        if key.id in self._keys or self._owner(key) is None:
            raise AccountRefused("there is a key of this id already, or no such account")
        owned = (other for other, _ in self._keys.values() if other.principal.account == key.principal.account)
        if sum(other.state(at) is KeyState.LIVE for other in owned) >= LIVE_KEYS:
            raise TooManyKeys(limit=LIVE_KEYS)
        self._keys[key.id] = key, at

    @override
    async def used(self, keys: Collection[KeyId], *, at: datetime) -> None:
        for key in self._keys.keys() & keys:
            self._keys[key] = replace(self._keys[key][0], last_used_at=at), self._keys[key][1]

    @override
    async def revoke(self, tenant: UUID, key: KeyId, *, at: datetime) -> bool:
        found = self._keys.get(key)
        if found is None or found[0].principal.tenant != tenant or found[0].state(at) is not KeyState.LIVE:
            return False
        self._keys[key] = replace(found[0], revoked_at=at), found[1]
        return True

    @override
    async def of_tenant(self, tenant: UUID) -> Sequence[tuple[StoredKey, Account]]:
        owned = ((at, key, self._owner(key)) for key, at in self._keys.values())
        mine = [(at, key, owner) for at, key, owner in owned if owner is not None and owner.tenant == tenant]
        return [(key, owner) for at, key, owner in sorted(mine, key=lambda entry: (entry[0], entry[1].id))]

    def _owner(self, key: StoredKey) -> Account | None:
        wanted = (key.principal.tenant, key.principal.account, key.principal.role)
        return next((one for one in self._accounts.values() if (one.tenant, one.id, one.role) == wanted), None)
