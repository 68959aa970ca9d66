"""Moderation: where its rules are kept, how they come into force, and who puts them to texts."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.adapters.postgres_phrase_lists import PostgresPhraseLists
from gateway.adapters.postgres_policies import PostgresAuditTrail, PostgresPolicies
from gateway.adapters.postgres_rules import PostgresRules
from gateway.counted_moderation import CountedModeration, Saw
from gateway.domain.moderation.injection import InjectionScorer
from gateway.moderation_cases import ModerationCases, ModerationStores, moderation_cases
from gateway.moderation_desk import ModerationDesk
from gateway.phrase_books import PhraseBooks
from gateway.rule_index import RuleIndex
from gateway.rule_keeper import KeptRules
from gateway.settings import Settings
from gateway.wiring.background import background
from gateway.wiring.clock import SystemClock
from gateway.wiring.guard import Guarding, guarding
from sessions.domain.moderation import Judgement
from sessions.moderation_ports import Moderation
from sessions.ports import Records


@dataclass(frozen=True, slots=True)
class Moderating:
    desk: Moderation
    stores: ModerationStores
    keeper: KeptRules
    scorer: InjectionScorer
    guard: Guarding

    def cases(self, records: Records) -> ModerationCases:
        """What callers may do with it, on these sessions."""
        return moderation_cases(
            self.stores, moderation=self.desk, scorer=self.scorer, records=records, clock=SystemClock()
        )

    def gauges(self) -> Mapping[str, float]:
        return {**self.keeper.gauges(), **self.guard.gauges()}

    def counters(self) -> Mapping[str, float]:
        return {**self.keeper.counters(), **self.guard.counters()}


def uncounted(_kind: str, _found: Judgement) -> None:
    """For a process that tells no figures."""


@asynccontextmanager
async def moderating(settings: Settings, engine: AsyncEngine, *, saw: Saw = uncounted) -> AsyncIterator[Moderating]:
    """While it is entered, the rules follow whatever any process puts in force."""
    own, clock, source, scorer = settings.moderation, SystemClock(), PostgresRules(engine=engine), InjectionScorer()
    index = RuleIndex(source=source, clock=clock.ticks, every_s=own.refresh_s, wait_s=own.wait_s)
    books = PhraseBooks(source=source, clock=clock.ticks, most_phrases=own.most_phrases, wait_s=own.wait_s)
    keeper = KeptRules(index=index, books=books, usual=own.policy)
    stores = ModerationStores(
        lists=PostgresPhraseLists(engine=engine, told=index.changed),
        policies=PostgresPolicies(engine=engine, told=index.changed),
        trail=PostgresAuditTrail(engine=engine),
        source=source,
        keeper=keeper,
    )
    async with guarding(settings.guard) as guard, background(index.run(), books.run()):
        desk = CountedModeration(guard.behind(ModerationDesk(keeper=keeper, scorer=scorer)), saw=saw)
        yield Moderating(desk, stores, keeper, scorer, guard)
