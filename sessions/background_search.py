"""Finds the background of a message: recall by words and by likeness, the best judged again, the few that fit shown.

Both kinds of models are optional and may be away; then words alone decide. A turn never fails for want of background.
"""

from collections.abc import Mapping, Sequence

from typing_extensions import override

from sessions.base_indexes import BaseIndexes, IndexedBase
from sessions.domain.background import background_text, cited
from sessions.domain.citation import NO_BACKGROUND, Background, KnowledgeBaseId
from sessions.domain.knowledge import Chunk
from sessions.domain.prompt import PromptRules
from sessions.domain.ranking import (
    RECALLED,
    RERANKED,
    Hit,
    Place,
    best_first,
    chosen,
    fused,
    judged,
    meant,
)
from sessions.domain.viewer import TenantId
from sessions.job_ports import SureSearch
from sessions.knowledge_screen import KnowledgeScreen
from sessions.moderation_ports import Rules
from sessions.ports import KnowledgeSearch, TokenCounter
from sessions.remembered_verdicts import RememberedVerdicts
from sessions.search_ports import Embedder, Reranker

_MOST_ASKED_CHARACTERS = 1000
"""Small models read a few hundred tokens and refuse more; a message may have more."""


class BackgroundSearch(KnowledgeSearch, SureSearch):
    """`least_likeness` and `least_relevance` are what an embedding model and a reranker must give a piece that is to
    be shown at all."""

    def __init__(
        self,
        *,
        indexes: BaseIndexes,
        counters: Sequence[TokenCounter],
        embedder: Embedder | None = None,
        least_likeness: float = 0.0,
        reranker: Reranker | None = None,
        least_relevance: float = 0.0,
    ) -> None:
        self._indexes = indexes
        self._counters = [
            (PromptRules(counter.special_tokens, counter.message_overhead), counter) for counter in counters
        ]
        self._embedder = embedder
        self._least_likeness = least_likeness
        self._reranker = reranker
        self._least_relevance = least_relevance
        self._screen = KnowledgeScreen(RememberedVerdicts())
        self.asked = 0
        self.found = 0

    @override
    async def find(
        self, tenant: TenantId, base: KnowledgeBaseId, question: str, *, budget_tokens: int, rules: Rules
    ) -> Background:
        self.asked += 1
        indexed = await self._indexes.current(tenant, base) if budget_tokens > 0 else None
        return await self._found(indexed, question, budget_tokens, rules)

    @override
    async def find_surely(
        self, tenant: TenantId, base: KnowledgeBaseId, question: str, *, budget_tokens: int, rules: Rules
    ) -> Background:
        self.asked += 1
        return await self._found(await self._indexes.awaited(tenant, base), question, budget_tokens, rules)

    async def _found(self, indexed: IndexedBase | None, question: str, budget_tokens: int, rules: Rules) -> Background:
        if indexed is None or budget_tokens < 1:
            return NO_BACKGROUND
        ranked, shown = await self._ranked(indexed, question), dict[Place, Chunk]()
        while True:
            used = chosen(
                ranked,
                terms_of=indexed.words.terms_of,
                fits=lambda places: self._tokens(_text(indexed, places, shown)) <= budget_tokens,
            )
            # Only what is about to be shown is looked at; where that changes anything, another choice may be better.
            if not (unseen := [hit.place for hit in used if hit.place not in shown]):
                break
            seen = {place: await self._screen.shown(rules, indexed.chunks[place]) for place in unseen}
            shown.update((place, chunk) for place, chunk in seen.items() if chunk is not None)
            ranked = [hit for hit in ranked if seen.get(hit.place, True) is not None]
        self.found += bool(used)
        return self._background(used, shown)

    async def _ranked(self, indexed: IndexedBase, question: str) -> Sequence[Hit]:
        asked, terms_of = indexed.words.question(question), indexed.words.terms_of
        lists = [
            meant(asked, indexed.words.recall(asked, limit=RECALLED), terms_of),
            await self._alike(indexed, question),
        ]
        places = fused(lists, limit=RERANKED)
        reranked = await self._reranked(indexed, question, places)
        return judged(asked, places, lists, terms_of) if reranked is None else reranked

    async def _alike(self, indexed: IndexedBase, question: str) -> Sequence[Hit]:
        """What an embedding model finds, whatever its words."""
        if self._embedder is None or indexed.vectors is None:
            return []
        vector = await self._embedder.question(question[:_MOST_ASKED_CHARACTERS])
        if vector is None:
            return []
        hits = await indexed.vectors.nearest(vector, limit=RECALLED)
        return [hit for hit in hits if hit.score >= max(self._least_likeness, 0)]

    async def _reranked(self, indexed: IndexedBase, question: str, places: Sequence[Place]) -> Sequence[Hit] | None:
        if self._reranker is None or not places:
            return None
        chunks = [indexed.chunks[place] for place in places]
        texts = [f"{each.heading}\n{each.text}".strip() for each in chunks]
        scores = await self._reranker.relevance(question[:_MOST_ASKED_CHARACTERS], texts)
        if scores is None:
            return None
        judgement = zip(places, scores, strict=True)
        return best_first({place: score for place, score in judgement if score >= self._least_relevance})

    def _background(self, used: Sequence[Hit], shown: Mapping[Place, Chunk]) -> Background:
        if not used:
            return NO_BACKGROUND
        pieces = [shown[hit.place] for hit in used]
        text = background_text(pieces)
        return Background(text, self._tokens(text), cited(pieces, used))

    def _tokens(self, text: str) -> int:
        """As it will stand in a prompt, whichever of the served models it is for."""
        return max(counter.count_text(rules.harmless(text)) for rules, counter in self._counters)


def _text(indexed: IndexedBase, places: Sequence[Place], shown: Mapping[Place, Chunk]) -> str:
    return background_text([shown.get(place, indexed.chunks[place]) for place in places])
