"""What moderation needs from outside: where lists, settings and the audit trail are kept.

Whatever changes something is told who does it and when, and writes the change and its line of the audit trail in one
transaction. Each method raises `RecordsUnavailable`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NewType, Protocol
from uuid import UUID

from gateway.domain.moderation.phrase_book import PhraseBook
from gateway.domain.moderation.phrases import PhraseList
from gateway.domain.moderation.policy import Policy
from sessions.domain.page import Cursor, Page

ListId = NewType("ListId", UUID)


class ListDirection(StrEnum):
    """What a list is for."""

    BOTH = "both"
    INPUT = "input"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class KeptList:
    """A list as a whole; what it says stands in its versions."""

    id: ListId
    tenant: UUID
    name: str
    scenario: UUID | None
    """The one scenario that it is for; None: every one of the tenant."""
    direction: ListDirection
    live_version: int | None
    """The one in force; None: none is."""
    latest_version: int
    created_by: UUID
    created_at: datetime
    archived_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ListVersion:
    """One version, frozen once it is written; `phrases` bears the list's name and this version's number."""

    list: ListId
    version: int
    phrases: PhraseList
    created_by: UUID
    created_at: datetime


@dataclass(frozen=True, slots=True)
class VersionSummary:
    """A version without what it says."""

    version: int
    phrase_count: int
    created_by: UUID
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Doer:
    """Who changes something, and when."""

    account: UUID
    at: datetime


class PhraseLists(Protocol):
    """The tenant's lists, every version of each kept. Names are the tenant's own, also those of archived lists."""

    async def add(self, new: KeptList, first: PhraseList) -> KeptList:
        """Write a list with its version 1; raises `PhraseListExists` for its name, `ScenarioNotFound`."""

    async def add_version(self, tenant: UUID, found: ListId, phrases: PhraseList, by: Doer) -> ListVersion:
        """Write the next version, numbered without gaps even when two write at once.

        Raises `PhraseListNotFound`, also for an archived one.
        """

    async def go_live(self, tenant: UUID, found: ListId, version: int | None, by: Doer) -> KeptList:
        """Put this version in force, or none; raises `PhraseListNotFound`, also for a version that is not there."""

    async def archive(self, tenant: UUID, found: ListId, by: Doer) -> KeptList:
        """Take it out of force for good; one that is archived stays as it is. Raises `PhraseListNotFound`."""

    async def get(self, tenant: UUID, found: ListId) -> KeptList | None: ...

    async def version(self, tenant: UUID, found: ListId, version: int) -> ListVersion | None: ...

    async def versions(self, tenant: UUID, found: ListId) -> Sequence[VersionSummary]:
        """By number, the newest first."""

    async def page(self, tenant: UUID, *, limit: int, after: Cursor | None = None) -> Page[KeptList]:
        """The newest first; archived ones too."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One line of the audit trail; ids, names of fields and numbers only, never people's words."""

    id: int
    at: datetime
    actor: UUID
    action: str
    subject: str
    facts: Mapping[str, str | int | float | bool | None]


class Policies(Protocol):
    async def of(self, tenant: UUID) -> Policy:
        """What the tenant has set; the usual one where it has set nothing."""

    async def change(self, tenant: UUID, policy: Policy, by: Doer) -> None: ...


class AuditTrail(Protocol):
    async def page(self, tenant: UUID, *, limit: int, before: int | None = None) -> Sequence[AuditEntry]:
        """At most `limit` entries with ids below `before`, the newest first."""


@dataclass(frozen=True, slots=True)
class Live:
    """What is in force for one tenant and scenario, ready for use and shared by all who ask meanwhile."""

    input: PhraseBook
    output: PhraseBook
    policy: Policy


class RuleKeeper(Protocol):
    async def live(self, tenant: UUID, scenario: UUID | None) -> Live:
        """Raises `ModerationUnavailable` where nobody can tell it."""
