"""Phrase lists, settings and their audit trail in dictionaries, with the promises of the real ones."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from typing_extensions import override

from gateway.adapters.audit_facts import Facts, of_archiving, of_going_live, of_new_list, of_new_version, of_policy
from gateway.domain.moderation.phrases import PhraseList
from gateway.domain.moderation.policy import INHERITED, OwnPolicy
from gateway.errors import PhraseListExists, PhraseListNotFound
from gateway.moderation_ports import (
    AuditEntry,
    AuditTrail,
    Doer,
    KeptList,
    ListId,
    ListVersion,
    LiveList,
    PhraseLists,
    Policies,
    RuleSource,
    TenantRules,
    Told,
    VersionSummary,
    nobody,
)
from sessions.domain.page import Cursor, Page
from sessions.errors import ScenarioNotFound


@dataclass(slots=True)
class ModerationBook:
    """All that the ports below share."""

    scenarios: set[tuple[UUID, UUID]] = field(default_factory=set)
    """Tenant and id; whichever is to be there must be put in."""
    lists: dict[ListId, KeptList] = field(default_factory=dict)
    versions: dict[tuple[ListId, int], ListVersion] = field(default_factory=dict)
    policies: dict[UUID, OwnPolicy] = field(default_factory=dict)
    trail: list[tuple[UUID, AuditEntry]] = field(default_factory=list)
    told: Told = nobody

    def note(self, tenant: UUID, by: Doer, action: str, subject: str, facts: Facts) -> None:
        self.trail.append((tenant, AuditEntry(len(self.trail) + 1, by.at, by.account, action, subject, facts)))


class MemoryPhraseLists(PhraseLists):
    def __init__(self, book: ModerationBook) -> None:
        self._book = book

    @override
    async def add(self, new: KeptList, first: PhraseList) -> KeptList:
        book, by = self._book, Doer(new.created_by, new.created_at)
        if new.scenario is not None and (new.tenant, new.scenario) not in book.scenarios:
            raise ScenarioNotFound(f"there is no scenario {new.scenario}")
        if any(each.name == new.name for each in self._of(new.tenant)):
            raise PhraseListExists
        book.lists[new.id] = new
        self._write(new, new.latest_version, first, by)
        book.note(new.tenant, by, "list_created", str(new.id), of_new_list(new, first))
        await book.told(new.tenant)
        return new

    @override
    async def add_version(self, tenant: UUID, found: ListId, phrases: PhraseList, by: Doer) -> ListVersion:
        before = self._changeable(tenant, found)
        after = replace(before, latest_version=before.latest_version + 1)
        self._book.lists[found] = after
        written = self._write(after, after.latest_version, phrases, by)
        self._book.note(tenant, by, "version_added", str(found), of_new_version(written.version, phrases))
        await self._book.told(tenant)
        return written

    @override
    async def amend(
        self, tenant: UUID, found: ListId, change: Callable[[PhraseList], PhraseList], by: Doer
    ) -> ListVersion:
        before = self._changeable(tenant, found)
        base = self._book.versions[found, before.live_version or before.latest_version]
        said = change(base.phrases)
        if said == base.phrases:
            return base
        written = await self.add_version(tenant, found, said, by)
        if before.live_version is not None:
            await self.go_live(tenant, found, written.version, by)
        return written

    @override
    async def go_live(self, tenant: UUID, found: ListId, version: int | None, by: Doer) -> KeptList:
        before = self._changeable(tenant, found)
        if version == before.live_version:
            return before
        if version is not None and not 1 <= version <= before.latest_version:
            raise PhraseListNotFound
        self._book.lists[found] = replace(before, live_version=version)
        self._book.note(tenant, by, "list_live", str(found), of_going_live(version, before))
        await self._book.told(tenant)
        return self._book.lists[found]

    @override
    async def archive(self, tenant: UUID, found: ListId, by: Doer) -> KeptList:
        before = await self.get(tenant, found)
        if before is None:
            raise PhraseListNotFound
        if before.archived_at is not None:
            return before
        self._book.lists[found] = replace(before, live_version=None, archived_at=by.at)
        self._book.note(tenant, by, "list_archived", str(found), of_archiving(before))
        await self._book.told(tenant)
        return self._book.lists[found]

    @override
    async def get(self, tenant: UUID, found: ListId) -> KeptList | None:
        kept = self._book.lists.get(found)
        return kept if kept is not None and kept.tenant == tenant else None

    @override
    async def version(self, tenant: UUID, found: ListId, version: int) -> ListVersion | None:
        return None if await self.get(tenant, found) is None else self._book.versions.get((found, version))

    @override
    async def versions(self, tenant: UUID, found: ListId) -> Sequence[VersionSummary]:
        kept = await self.get(tenant, found)
        numbers = () if kept is None else range(kept.latest_version, 0, -1)
        return [self._book.versions[found, number].summary for number in numbers]

    @override
    async def page(self, tenant: UUID, *, limit: int, after: Cursor | None = None) -> Page[KeptList]:
        rest = sorted(
            (each for each in self._of(tenant) if after is None or (each.created_at, each.id) < (after.at, after.id)),
            key=lambda each: (each.created_at, each.id),
            reverse=True,
        )
        shown = tuple(rest[:limit])
        return Page(shown, Cursor(shown[-1].created_at, shown[-1].id) if len(rest) > limit else None)

    def _of(self, tenant: UUID) -> list[KeptList]:
        return [each for each in self._book.lists.values() if each.tenant == tenant]

    def _changeable(self, tenant: UUID, found: ListId) -> KeptList:
        kept = self._book.lists.get(found)
        if kept is None or kept.tenant != tenant or kept.archived_at is not None:
            raise PhraseListNotFound
        return kept

    def _write(self, of: KeptList, version: int, said: PhraseList, by: Doer) -> ListVersion:
        named = PhraseList(of.name, version, said.phrases, said.allowed)
        written = ListVersion(of.id, version, named, by.account, by.at)
        self._book.versions[of.id, version] = written
        return written


class MemoryPolicies(Policies):
    def __init__(self, book: ModerationBook) -> None:
        self._book = book

    @override
    async def of(self, tenant: UUID) -> OwnPolicy:
        return self._book.policies.get(tenant, INHERITED)

    @override
    async def change(self, tenant: UUID, policy: OwnPolicy, by: Doer) -> None:
        self._book.policies[tenant] = policy
        self._book.note(tenant, by, "settings_changed", str(tenant), of_policy(policy))
        await self._book.told(tenant)


class MemoryAuditTrail(AuditTrail):
    def __init__(self, book: ModerationBook) -> None:
        self._book = book

    @override
    async def page(self, tenant: UUID, *, limit: int, before: int | None = None) -> Sequence[AuditEntry]:
        mine = [entry for of, entry in self._book.trail if of == tenant and (before is None or entry.id < before)]
        return mine[::-1][:limit]


class MemoryRules(RuleSource):
    def __init__(self, book: ModerationBook) -> None:
        self._book = book

    @override
    async def everywhere(self) -> Mapping[UUID, TenantRules]:
        found: dict[UUID, list[LiveList]] = {tenant: [] for tenant in self._book.policies}
        for each in sorted(self._book.lists.values(), key=lambda each: (each.created_at, each.id)):
            if each.live_version is not None:
                live = LiveList(each.id, each.live_version, each.scenario, each.direction)
                found.setdefault(each.tenant, []).append(live)
        return {
            tenant: TenantRules(tuple(kept), self._book.policies.get(tenant, INHERITED))
            for tenant, kept in found.items()
        }

    @override
    async def of_tenant(self, tenant: UUID) -> TenantRules:
        return (await self.everywhere()).get(tenant, TenantRules())

    @override
    async def phrases(self, tenant: UUID, found: LiveList) -> PhraseList:
        kept = self._book.lists.get(found.list)
        if kept is None or kept.tenant != tenant or (found.list, found.version) not in self._book.versions:
            raise PhraseListNotFound
        return self._book.versions[found.list, found.version].phrases
