"""What moderation needs from outside: where lists, settings and the audit trail are kept.

Whatever changes something is told who does it and when, writes the change and its line of the audit trail in one
transaction, and returns when the rules of this process follow it. Each method raises `RecordsUnavailable`.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NewType, Protocol
from uuid import UUID

from gateway.domain.moderation.phrase_book import PhraseBook
from gateway.domain.moderation.phrases import PhraseList
from gateway.domain.moderation.policy import INHERITED, OwnPolicy, Policy
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
class VersionSummary:
    """A version without what it says."""

    version: int
    phrase_count: int
    created_by: UUID
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ListVersion:
    """One version, frozen once it is written; `phrases` bears the list's name and this version's number."""

    list: ListId
    version: int
    phrases: PhraseList
    created_by: UUID
    created_at: datetime

    @property
    def summary(self) -> VersionSummary:
        return VersionSummary(self.version, len(self.phrases.phrases), self.created_by, self.created_at)


@dataclass(frozen=True, slots=True)
class Doer:
    """Who changes something, and when."""

    account: UUID
    at: datetime


class PhraseLists(Protocol):
    """The tenant's lists, every version of each kept. Names are the tenant's own, also those of archived lists."""

    async def add(self, new: KeptList, first: PhraseList) -> KeptList:
        """Write a list with its version 1, in force if it says so.

        Raises `PhraseListExists` for its name, `ScenarioNotFound`.
        """

    async def add_version(self, tenant: UUID, found: ListId, phrases: PhraseList, by: Doer) -> ListVersion:
        """Write the next version, numbered without gaps even when two write at once.

        Raises `PhraseListNotFound`, also for an archived one.
        """

    async def amend(
        self, tenant: UUID, found: ListId, change: Callable[[PhraseList], PhraseList], by: Doer
    ) -> ListVersion:
        """Make the next version by changing the one in force, and put it in force instead; where none is in force, by
        changing the latest, which stays out of force. Nobody else changes the list meanwhile.

        A change that changes nothing writes nothing: what comes back is the version that is so already. `change` may
        run in a thread; what it raises comes out. Raises `PhraseListNotFound`, also for an archived list.
        """

    async def go_live(self, tenant: UUID, found: ListId, version: int | None, by: Doer) -> KeptList:
        """Put this version in force, or none; what is so already stays without a line in the audit trail.

        Raises `PhraseListNotFound`, also for an archived list and for a version that is not there.
        """

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
    """`list_created`, `version_added`, `list_live`, `list_archived`, `settings_changed` or `turn_reviewed`."""
    subject: str
    """The id of what was changed; of a turn, its session's id and its number: `<id>/<number>`."""
    facts: Mapping[str, str | int | float | bool | None]


class Policies(Protocol):
    async def of(self, tenant: UUID) -> OwnPolicy:
        """What the tenant has set by itself."""

    async def change(self, tenant: UUID, policy: OwnPolicy, by: Doer) -> None:
        """Instead of all that was set before."""


class AuditTrail(Protocol):
    async def page(self, tenant: UUID, *, limit: int, before: int | None = None) -> Sequence[AuditEntry]:
        """At most `limit` entries with ids below `before`, the newest first."""


Told = Callable[[UUID], Awaitable[None]]
"""Hears of each tenant whose rules may have changed, also where nobody knows whether they did."""


async def nobody(_tenant: UUID) -> None:
    """Nothing here follows the rules."""


@dataclass(frozen=True, slots=True)
class LiveList:
    """A version that is in force."""

    list: ListId
    version: int
    scenario: UUID | None
    direction: ListDirection

    def is_for(self, scenario: UUID | None, direction: ListDirection) -> bool:
        """Whether texts of this scenario and direction are read by it."""
        return self.scenario in (None, scenario) and self.direction in (ListDirection.BOTH, direction)


@dataclass(frozen=True, slots=True)
class TenantRules:
    """What is in force for a tenant, without what the lists say."""

    lists: tuple[LiveList, ...] = ()
    """The oldest first."""
    policy: OwnPolicy = INHERITED


class RuleSource(Protocol):
    """What is in force, and what it says."""

    async def everywhere(self) -> Mapping[UUID, TenantRules]:
        """Of every tenant that has a list in force or a policy of its own."""

    async def of_tenant(self, tenant: UUID) -> TenantRules: ...

    async def phrases(self, tenant: UUID, found: LiveList) -> PhraseList:
        """Raises `PhraseListNotFound`."""


@dataclass(frozen=True, slots=True)
class Live:
    """What is in force for one tenant and scenario, ready for use and shared by all who ask meanwhile."""

    input: PhraseBook
    output: PhraseBook
    policy: Policy


class RuleKeeper(Protocol):
    async def live(self, tenant: UUID, scenario: UUID | None) -> Live:
        """Raises `ModerationUnavailable` where nobody can tell it."""
