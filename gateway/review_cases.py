"""What staff do with turns that moderation has marks on: look through them, decide, and mend the lists by it."""

import asyncio
from dataclasses import dataclass, replace

from gateway.domain.moderation.amendment import amended, amendment_fault, pardons
from gateway.errors import FieldInvalid, GatewayError, PhraseListNotFound, ReviewDecided
from gateway.moderation_ports import Doer, ListId, PhraseLists
from sessions.domain.review import (
    ChangeKind,
    Decided,
    Decision,
    ListChange,
    ReviewFilter,
    ReviewInContext,
    ReviewPage,
    ReviewPlace,
)
from sessions.domain.session import SessionId
from sessions.domain.viewer import Viewer
from sessions.errors import ReviewNotFound
from sessions.ports import Clock
from sessions.review_ports import Reviews


@dataclass(frozen=True, slots=True)
class Wish:
    """What a reviewer wants to be decided."""

    decided: Decided
    note: str = ""
    effect: ListChange | None = None


class ReviewCases:
    def __init__(self, *, reviews: Reviews, lists: PhraseLists, clock: Clock) -> None:
        self._reviews = reviews
        self._lists = lists
        self._clock = clock

    async def page(self, viewer: Viewer, which: ReviewFilter, limit: int, after: ReviewPlace | None) -> ReviewPage:
        return await self._reviews.page(viewer.tenant, which, limit=limit, after=after)

    async def read(self, viewer: Viewer, session: SessionId, turn: int) -> ReviewInContext:
        """Raises `ReviewNotFound`."""
        found = await self._reviews.get(viewer.tenant, session, turn)
        if found is None:
            raise ReviewNotFound("there is no such turn to review")
        return found

    async def decide(self, viewer: Viewer, session: SessionId, turn: int, wish: Wish) -> Decision:
        """The first decision stands; the same one again is answered alike, and does what was left undone by it.

        The decision is written before its effect, so that a crash between the two leaves a decision that says what is
        still to be done. Raises `ReviewNotFound`, `ReviewDecided`, `PhraseListNotFound` or `FieldInvalid`.
        """
        now = self._clock.now()
        asked = Decision(session, turn, wish.decided, wish.note, wish.effect, viewer.account, now)
        # Looked for before the decision is: what another reviewer has just done to the list is then known as decided.
        obstacle = await self._obstacle(viewer, asked)
        kept = (await self.read(viewer, session, turn)).review.decision
        if kept is None:
            if obstacle is not None:
                raise obstacle
            kept = await self._reviews.decide(viewer.tenant, asked)
        if not asked.repeats(kept):
            raise ReviewDecided
        return await self._carried_out(viewer, kept)

    async def _obstacle(self, viewer: Viewer, asked: Decision) -> GatewayError | None:
        """What stands in the way of the effect."""
        effect = asked.effect
        if effect is None:
            return None
        kept = await self._lists.get(viewer.tenant, ListId(effect.list))
        if kept is None or kept.archived_at is not None:
            return PhraseListNotFound()
        base = await self._lists.version(viewer.tenant, kept.id, kept.live_version or kept.latest_version)
        if base is None:
            return None
        fault = amendment_fault(base.phrases, effect)
        if fault is None and effect.kind is ChangeKind.ALLOW and await self._met_no_other(viewer, asked, kept.name):
            is_of_use = await asyncio.to_thread(pardons, base.phrases, effect.subject)
            fault = None if is_of_use else "no phrase of the list stands within it and is shorter"
        return None if fault is None else FieldInvalid(f"effect.{effect.kind}", fault)

    async def _met_no_other(self, viewer: Viewer, asked: Decision, name: str) -> bool:
        """Whether the turn met no phrase of other lists, which the one of this name may allow too."""
        found = (await self.read(viewer, asked.session, asked.turn)).review.turn.moderation
        return all(mark.list_name in ("", name) for mark in found.marks)

    async def _carried_out(self, viewer: Viewer, decision: Decision) -> Decision:
        effect = decision.effect
        if effect is None or effect.version is not None:
            return decision
        by = Doer(viewer.account, self._clock.now())
        try:
            version = await self._lists.amend(
                viewer.tenant, ListId(effect.list), lambda said: amended(said, effect), by
            )
        except PhraseListNotFound:  # archived meanwhile: there is nothing left to mend
            return decision
        done = replace(decision, effect=replace(effect, version=version.version))
        await self._reviews.done(viewer.tenant, done)
        return done
