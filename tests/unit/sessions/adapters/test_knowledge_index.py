"""Chunks are found by their words, in both languages, and not by chance."""

import logging
import subprocess
import sys
from collections.abc import Sequence
from uuid import UUID

import pytest

from sessions.adapters.knowledge_index import Bm25Indexer
from sessions.domain.citation import DocumentId
from sessions.domain.knowledge import Chunk
from sessions.domain.ranking import RECALLED, RERANKED, fused, judged, meant
from sessions.search_ports import ChunkIndex
from tests.support.knowledge_questions import BESIDE_THE_POINT, PASSAGES, QUESTIONS

DOCUMENT = DocumentId(UUID(int=1))


async def index_of(*texts: str, headings: Sequence[str] = ()) -> ChunkIndex:
    above = [*headings, *([""] * (len(texts) - len(headings)))]
    chunks = [Chunk(DOCUMENT, "d", at, above[at], text, 1) for at, text in enumerate(texts)]
    return await Bm25Indexer().index(chunks)


def found(index: ChunkIndex, text: str) -> list[int]:
    question = index.question(text)
    return [hit.place for hit in meant(question, index.recall(question, limit=RECALLED), index.terms_of)]


async def test_the_chunk_that_holds_more_of_the_question_comes_first() -> None:
    index = await index_of("a red pump", "a red valve", "a blue valve and a red pump")
    assert found(index, "Where are the blue valves?") == [2, 1]


async def test_headings_count_like_the_text() -> None:
    index = await index_of("It takes ten days.", "It takes two days.", headings=["Returns", "Shipping"])
    assert found(index, "returning") == [0]


async def test_codes_are_found_however_they_are_written() -> None:
    index = await index_of("part AX-4471 fits", "part AX-4472 fits")
    assert found(index, "ax4471")[0] == 0
    assert found(index, "Do you have AX 4471?")[0] == 0


async def test_a_question_of_unknown_words_is_looked_for_by_characters() -> None:
    index = await index_of("可以开增值税专用发票", "天气预报说今天会下雨", "滤芯要冲洗十分钟")
    assert found(index, "专票") == [0]
    assert index.question("专票").is_by_characters


async def test_characters_found_here_and_there_are_chance() -> None:
    index = await index_of("可以开增值税专用发票", "滤芯要冲洗十分钟")
    assert found(index, "专题讲座") == []


@pytest.mark.parametrize("question", ["", "的", "what is it", "?!", "zebra", "斑马"])
async def test_what_matches_nothing_finds_nothing(question: str) -> None:
    assert found(await index_of("a red pump", "滤芯要冲洗"), question) == []


async def test_a_base_without_words_is_searched_in_vain() -> None:
    assert found(await index_of(), "pump") == []
    assert found(await index_of("???", "的"), "pump") == []


async def test_a_chunk_without_words_is_never_found() -> None:
    index = await index_of("???", "a red pump")
    assert found(index, "pump") == [1]
    assert list(index.terms_of(index.recall(index.question("pump"), limit=1)[0].place))


def test_a_chinese_question_to_an_english_base_loads_no_dictionary() -> None:
    program = (
        "import asyncio, sys, uuid\n"
        "from sessions.adapters.knowledge_index import Bm25Indexer\n"
        "from sessions.domain.knowledge import Chunk\n"
        "chunk = Chunk(uuid.uuid4(), 'd', 1, '', 'a red pump', 1)\n"
        "index = asyncio.run(Bm25Indexer().index([chunk]))\n"
        "assert index.recall(index.question('水泵多少钱'), limit=1) == []\n"
        "assert 'rjieba' not in sys.modules\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


async def test_the_limit_holds() -> None:
    index = await index_of(*["pump"] * 60)
    assert len(index.recall(index.question("pump"), limit=50)) == 50


async def test_an_unknown_word_weighs_most() -> None:
    index = await index_of("red pump", "red valve")
    weights = index.question("red pump zebra").weights
    assert sorted(weights.values()) == [weights[term] for term in sorted(weights, key=lambda each: weights[each])]
    assert max(weights.values()) == weights[min(weights)]


async def test_making_an_index_writes_no_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        await index_of("a red pump")
    assert not [record for record in caplog.records if record.name.startswith("bm25s")]


class TestQuality:
    """Thirty passages, forty questions in the words of trainees."""

    @staticmethod
    async def ranked() -> list[tuple[str, list[str]]]:
        chunks = [Chunk(DOCUMENT, "d", at, each.heading, each.text, 1) for at, each in enumerate(PASSAGES)]
        index = await Bm25Indexer().index(chunks)
        answers = []
        for asked in QUESTIONS:
            question = index.question(asked.question)
            hits = meant(question, index.recall(question, limit=RECALLED), index.terms_of)
            best = judged(question, fused([hits], limit=RERANKED), [hits], index.terms_of)
            answers.append((asked.answered_by, [PASSAGES[hit.place].key for hit in best]))
        return answers

    async def test_nine_of_ten_answers_are_among_the_first_five(self) -> None:
        answers = await self.ranked()
        assert len(answers) == 40
        assert sum(right in found[:5] for right, found in answers) >= 0.9 * len(answers)

    async def test_eight_of_ten_answers_come_first(self) -> None:
        answers = await self.ranked()
        assert sum(found[:1] == [right] for right, found in answers) >= 0.8 * len(answers)

    async def test_small_talk_finds_nothing(self) -> None:
        index = await index_of(*(each.text for each in PASSAGES))
        assert [found(index, text) for text in BESIDE_THE_POINT] == [[]] * len(BESIDE_THE_POINT)
