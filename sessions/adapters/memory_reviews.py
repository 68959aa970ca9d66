"""Reviews of turns on the memory records, with the promises of the real ones."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from typing_extensions import override

from sessions.domain.review import (
    NEIGHBOURS,
    Decision,
    Review,
    ReviewFilter,
    ReviewInContext,
    ReviewPage,
    ReviewPlace,
    fits,
    is_for_review,
    page_of,
    place_of,
)
from sessions.domain.session import Session, SessionFilter, SessionId
from sessions.domain.turn import Turn
from sessions.domain.viewer import AccountId, TenantId, Viewer
from sessions.errors import ReviewNotFound
from sessions.ports import Records, UnitOfWork
from sessions.review_ports import Reviews

_ALL: Final = 1_000_000


def _unheard(_tenant: TenantId, _decision: Decision) -> None:
    pass


class MemoryReviews(Reviews):
    """`noted` hears of each decision that is written, for the audit trail."""

    def __init__(self, records: Records, *, noted: Callable[[TenantId, Decision], None] = _unheard) -> None:
        self._records = records
        self._noted = noted
        self._decisions: dict[tuple[SessionId, int], Decision] = {}

    @override
    async def page(
        self, tenant: TenantId, which: ReviewFilter, *, limit: int, after: ReviewPlace | None = None
    ) -> ReviewPage:
        async with self._records.begin(tenant) as work:
            sessions = await work.sessions.list(_all_of(tenant), SessionFilter(), limit=_ALL)
            found = [
                self._review(one, turn)
                for one in sessions.items
                for turn in await work.turns.all(one.id)
                if is_for_review(turn)
            ]
        wanted = [each for each in found if fits(each, which) and (after is None or _order(each) < _key(after))]
        return page_of(sorted(wanted, key=_order, reverse=True)[: limit + 1], limit)

    @override
    async def get(self, tenant: TenantId, session: SessionId, turn: int) -> ReviewInContext | None:
        async with self._records.begin(tenant) as work:
            found = await self._found(work, tenant, session, turn)
            if found is None:
                return None
            scenario = await work.scenarios.get(tenant, found.scenario, found.scenario_version)
            withheld = await work.withheld.get(session, turn)
            near = [one for one in await work.turns.all(session) if 0 < abs(one.number - turn) <= NEIGHBOURS]
        return ReviewInContext(
            review=found,
            title="" if scenario is None else scenario.content.title,
            withheld=withheld,
            before=tuple(one for one in near if one.number < turn),
            after=tuple(one for one in near if one.number > turn),
        )

    @override
    async def decide(self, tenant: TenantId, decision: Decision) -> Decision:
        async with self._records.begin(tenant) as work:
            if await self._found(work, tenant, decision.session, decision.turn) is None:
                raise ReviewNotFound("there is no such turn to review")
        kept = self._decisions.setdefault((decision.session, decision.turn), decision)
        if kept is decision:
            self._noted(tenant, decision)
        return kept

    @override
    async def done(self, tenant: TenantId, decision: Decision) -> None:
        known = self._decisions.get((decision.session, decision.turn))
        async with self._records.begin(tenant) as work:
            found = await self._found(work, tenant, decision.session, decision.turn)
        if known is not None and found is not None:
            self._decisions[decision.session, decision.turn] = replace(known, effect=decision.effect)

    async def _found(self, work: UnitOfWork, tenant: TenantId, session: SessionId, turn: int) -> Review | None:
        one, played = await work.sessions.get(_all_of(tenant), session), await work.turns.get(session, turn)
        if one is None or played is None or not is_for_review(played):
            return None
        return self._review(one, played)

    def _review(self, of: Session, turn: Turn) -> Review:
        decision = self._decisions.get((turn.session, turn.number))
        return Review(turn, of.trainee, of.scenario, of.scenario_version, decision)


def _all_of(tenant: TenantId) -> Viewer:
    return Viewer(tenant, AccountId(tenant), sees_all=True)


def _order(review: Review) -> tuple[object, ...]:
    return _key(place_of(review))


def _key(place: ReviewPlace) -> tuple[object, ...]:
    return place.at, place.session, place.turn
