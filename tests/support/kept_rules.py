"""Rules that are kept in memory and come into force as in a process that serves; nothing is an injection by default."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import monotonic
from uuid import UUID

from gateway.adapters.memory_moderation import (
    MemoryAuditTrail,
    MemoryPhraseLists,
    MemoryPolicies,
    MemoryRules,
    ModerationBook,
)
from gateway.domain.moderation.injection import InjectionScorer
from gateway.moderation_cases import ModerationCases, ModerationStores, moderation_cases
from gateway.moderation_desk import ModerationDesk
from gateway.phrase_books import PhraseBooks
from gateway.rule_index import RuleIndex
from gateway.rule_keeper import KeptRules
from gateway.wiring.background import background
from sessions.ports import Clock, Records
from tests.support.moderated import LENIENT

_WAIT_S = 10.0


@dataclass
class Ruled:
    """`desk` follows what is written into `stores`."""

    desk: ModerationDesk
    stores: ModerationStores
    book: ModerationBook
    scorer: InjectionScorer

    def knows_scenario(self, tenant: UUID, scenario: UUID) -> None:
        """In Postgres a foreign key would."""
        self.book.scenarios.add((tenant, scenario))

    def cases(self, records: Records, clock: Clock) -> ModerationCases:
        return moderation_cases(self.stores, moderation=self.desk, scorer=self.scorer, records=records, clock=clock)


@asynccontextmanager
async def kept_rules() -> AsyncIterator[Ruled]:
    book, scorer = ModerationBook(), InjectionScorer()
    source = MemoryRules(book)
    index = RuleIndex(source=source, clock=monotonic, every_s=1.0, wait_s=_WAIT_S)
    books = PhraseBooks(source=source, clock=monotonic, most_phrases=200_000, wait_s=_WAIT_S)
    keeper = KeptRules(index=index, books=books, usual=LENIENT)
    book.told = index.changed
    stores = ModerationStores(
        lists=MemoryPhraseLists(book),
        policies=MemoryPolicies(book),
        trail=MemoryAuditTrail(book),
        source=source,
        keeper=keeper,
    )
    async with background(index.run(), books.run()):
        yield Ruled(ModerationDesk(keeper=keeper, scorer=scorer), stores, book, scorer)
