"""Who looks at sessions, as far as sessions care: a tenant, an account, and whether it sees others' sessions."""

from dataclasses import dataclass
from typing import NewType
from uuid import UUID

TenantId = NewType("TenantId", UUID)
AccountId = NewType("AccountId", UUID)


@dataclass(frozen=True, slots=True)
class Viewer:
    """A trainee sees the own sessions; an instructor, operator or service all of its tenant."""

    tenant: TenantId
    account: AccountId
    sees_all: bool

    @property
    def only_of(self) -> AccountId | None:
        """The trainee whose sessions alone may be seen, or None for all of the tenant."""
        return None if self.sees_all else self.account
