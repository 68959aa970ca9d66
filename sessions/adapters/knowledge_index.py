"""Chunks in memory, searchable by BM25 over their terms; headings count like the text.

A Chinese word also leaves its characters, marked as such, so that a question none of whose words is known can still
be looked for by characters.
"""

import asyncio
import logging
import time
from array import array
from collections.abc import Iterable, Iterator, Sequence

import bm25s
import numpy as np
from typing_extensions import override

from sessions.adapters.word_cutter import WordCutter
from sessions.domain.knowledge import Chunk
from sessions.domain.ranking import Hit, Place, Question, weight
from sessions.domain.terms import Language, characters, has_chinese, terms
from sessions.search_ports import ChunkIndex, Indexer


class Bm25Indexer(Indexer):
    def __init__(self) -> None:
        self._words = WordCutter()

    @override
    async def index(self, chunks: Sequence[Chunk]) -> ChunkIndex:
        return await asyncio.to_thread(self._made, chunks)

    def _made(self, chunks: Sequence[Chunk]) -> ChunkIndex:
        words, making = self._words, self._words.language()
        texts = [f"{chunk.heading}\n{chunk.text}" for chunk in chunks]
        # A question is read on the loop, where a dictionary must not be loaded first.
        is_chinese = any(has_chinese(text) for text in texts)
        asking = words.language() if is_chinese else words.language_without_chinese()
        return Bm25Index((_with_characters(terms(text, making)) for text in _yielding(texts)), language=asking)


class Bm25Index(ChunkIndex):
    def __init__(self, chunks: Iterable[list[str]], *, language: Language) -> None:
        self._language = language
        self._ids: dict[str, int] = {}
        self._chunks = [array("i", self._numbers(chunk)) for chunk in chunks]
        self._bm25 = _bm25(self._chunks, self._ids) if self._ids else None

    def _numbers(self, chunk: Iterable[str]) -> list[int]:
        known = self._ids
        return [known.setdefault(term, len(known)) for term in chunk]

    @override
    def question(self, text: str) -> Question:
        asked = list(dict.fromkeys(terms(text, self._language)))
        if any(term in self._ids for term in asked):
            return Question(self._weights(asked))
        pieces = [character for word in asked for character in characters(word)]
        return Question(self._weights(dict.fromkeys(pieces)), is_by_characters=True)

    @override
    def recall(self, question: Question, *, limit: int) -> Sequence[Hit]:
        known = [term for term in question.weights if term >= 0]
        if self._bm25 is None or not known:
            return []
        scores = self._bm25.get_scores_from_ids(known)
        best = np.argsort(-scores, kind="stable")[:limit]
        return [Hit(Place(int(place)), float(scores[place])) for place in best if scores[place] > 0]

    @override
    def terms_of(self, place: Place) -> Sequence[int]:
        return self._chunks[place]

    def _weights(self, asked: Iterable[str]) -> dict[int, float]:
        """Terms that no chunk holds weigh most; they have numbers that no chunk's terms have."""
        return {
            self._ids.get(term, -number): weight(self._holding(term), len(self._chunks))
            for number, term in enumerate(asked, start=1)
        }

    def _holding(self, term: str) -> int:
        if self._bm25 is None or (known := self._ids.get(term)) is None:
            return 0
        starts = self._bm25.scores["indptr"]
        return int(starts[known + 1] - starts[known])


def _yielding(texts: Iterable[str]) -> Iterator[str]:
    """Lets the loop go on between two of them, rather than once in the interpreter's 5 ms."""
    for text in texts:
        time.sleep(0)
        yield text


def _with_characters(words: list[str]) -> list[str]:
    return words + [character for word in words if not word.isascii() for character in characters(word)]


def _bm25(chunks: Sequence["array[int]"], ids: dict[str, int]) -> bm25s.BM25:
    logging.getLogger(bm25s.__name__).setLevel(logging.WARNING)  # it says at each index that it makes one
    made = bm25s.BM25(method="lucene")
    made.index(([list(chunk) for chunk in chunks], ids), create_empty_token=False, show_progress=False)
    return made
