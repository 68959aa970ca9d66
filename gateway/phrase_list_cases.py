"""What staff do with phrase lists: write them in versions, put one in force, take it out again."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid4

from gateway.domain.moderation.fault_words import told
from gateway.domain.moderation.folding import Folding
from gateway.domain.moderation.phrases import Phrase, PhraseList, faults
from gateway.errors import PhraseListInvalid, PhraseListNotFound
from gateway.moderation_ports import Doer, KeptList, ListDirection, ListId, ListVersion, PhraseLists, VersionSummary
from sessions.domain.page import Cursor, Page
from sessions.domain.scenario import ScenarioId
from sessions.domain.viewer import Viewer
from sessions.ports import Clock

MOST_FAULTS = 1_000
"""That are told of one list."""
_FIRST = 1


@dataclass(frozen=True, slots=True)
class ListContent:
    """What one version says."""

    phrases: tuple[Phrase, ...] = ()
    allowed: tuple[str, ...] = ()

    def named(self, name: str, version: int) -> PhraseList:
        return PhraseList(name, version, self.phrases, self.allowed)


@dataclass(frozen=True, slots=True)
class NewList:
    name: str
    content: ListContent
    scenario: ScenarioId | None = None
    direction: ListDirection = ListDirection.BOTH
    is_live: bool = False


async def must_be_usable(found: PhraseList) -> None:
    """Raises `PhraseListInvalid`. Looking through tens of thousands of phrases takes long, so a thread does it."""
    wrong = await asyncio.to_thread(faults, found, Folding())
    if wrong:
        raise PhraseListInvalid(told(wrong[:MOST_FAULTS]))


class PhraseListCases:
    """Each method raises `PhraseListNotFound` for a list that the tenant does not have."""

    def __init__(self, *, lists: PhraseLists, clock: Clock) -> None:
        self._lists = lists
        self._clock = clock

    async def create(self, viewer: Viewer, new: NewList) -> KeptList:
        """Raises `PhraseListInvalid`, `PhraseListExists` or `ScenarioNotFound`."""
        first = new.content.named(new.name, _FIRST)
        await must_be_usable(first)
        kept = KeptList(
            id=ListId(uuid4()),
            tenant=viewer.tenant,
            name=new.name,
            scenario=new.scenario,
            direction=new.direction,
            live_version=_FIRST if new.is_live else None,
            latest_version=_FIRST,
            created_by=viewer.account,
            created_at=self._clock.now(),
        )
        return await self._lists.add(kept, first)

    async def page(self, viewer: Viewer, limit: int, after: Cursor | None) -> Page[KeptList]:
        return await self._lists.page(viewer.tenant, limit=limit, after=after)

    async def read(self, viewer: Viewer, which: ListId) -> KeptList:
        found = await self._lists.get(viewer.tenant, which)
        if found is None:
            raise PhraseListNotFound
        return found

    async def versions(self, viewer: Viewer, which: ListId) -> Sequence[VersionSummary]:
        return await self._lists.versions(viewer.tenant, which)

    async def version(self, viewer: Viewer, which: ListId, number: int) -> ListVersion:
        found = await self._lists.version(viewer.tenant, which, number)
        if found is None:
            raise PhraseListNotFound
        return found

    async def add_version(self, viewer: Viewer, which: ListId, content: ListContent) -> tuple[ListVersion, bool]:
        """The next version, and whether it is new: what the latest one says already is not written again.

        Raises `PhraseListInvalid`.
        """
        kept = await self.read(viewer, which)
        proposed = content.named(kept.name, kept.latest_version + 1)
        await must_be_usable(proposed)
        latest = await self.version(viewer, which, kept.latest_version)
        if (latest.phrases.phrases, latest.phrases.allowed) == (content.phrases, content.allowed):
            return latest, False
        return await self._lists.add_version(viewer.tenant, which, proposed, self._doer(viewer)), True

    async def go_live(self, viewer: Viewer, which: ListId, version: int | None) -> KeptList:
        return await self._lists.go_live(viewer.tenant, which, version, self._doer(viewer))

    async def archive(self, viewer: Viewer, which: ListId) -> None:
        await self._lists.archive(viewer.tenant, which, self._doer(viewer))

    def _doer(self, viewer: Viewer) -> Doer:
        return Doer(viewer.account, self._clock.now())
