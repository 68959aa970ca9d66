"""What the edge needs from outside."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from gateway.domain.access import KeyId, Principal, Role, StoredKey


@dataclass(frozen=True, slots=True)
class Account:
    """Who can sign in; `name` is unique in its tenant."""

    id: UUID
    tenant: UUID
    role: Role
    name: str

    @property
    def principal(self) -> Principal:
        return Principal(self.tenant, self.id, self.role)


class Keys(Protocol):
    """The API keys; only hashes are kept. Each method raises `KeysUnavailable` when nobody can tell."""

    async def find(self, key: KeyId) -> StoredKey | None: ...

    async def add(self, key: StoredKey, *, at: datetime) -> None:
        """Raises `AccountRefused` when the id is taken or the owner is not there."""

    async def revoke(self, tenant: UUID, key: KeyId, *, at: datetime) -> bool:
        """Whether there was such a living key."""

    async def of_tenant(self, tenant: UUID) -> Sequence[tuple[StoredKey, Account]]:
        """Every key of the tenant with its owner, oldest first."""


class Accounts(Protocol):
    """Tenants and their accounts. Each method raises `KeysUnavailable` when nobody can tell."""

    async def tenant(self, slug: str, *, name: str, at: datetime) -> UUID:
        """The tenant of this slug, made when there is none."""

    async def tenant_id(self, slug: str) -> UUID | None: ...

    async def account(self, tenant: UUID, name: str, role: Role, *, at: datetime) -> Account:
        """The account of this name, made when there is none; raises `AccountRefused` when it has another role."""
