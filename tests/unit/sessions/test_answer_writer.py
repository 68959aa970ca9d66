"""Prompts of jobs that fit, and what of a document stands in them."""

from collections.abc import Sequence
from uuid import uuid4

import pytest

from sessions.answer_writer import AnswerWriter
from sessions.domain.answer_shares import AnswerShares
from sessions.domain.citation import Background, DocumentId
from sessions.domain.knowledge import Chunk
from sessions.errors import TextEmpty, TextTooLong
from sessions.prompt_ruler import MARGIN_TOKENS
from tests.support.session_fakes import WordCounter

SHARES = AnswerShares(window=1000, answer=100, summary=50, question=60, background=300)
DOCUMENT = DocumentId(uuid4())


def from_document(question: str, overview: Chunk | None, pieces: Sequence[Chunk], *, budget: int) -> Background:
    one = writer()
    return one.background(one.nearest(question, overview, pieces, budget=budget))


def writer(shares: AnswerShares = SHARES) -> AnswerWriter:
    return AnswerWriter(counter=WordCounter(), shares=shares)


def chunk(number: int, text: str, heading: str = "") -> Chunk:
    return Chunk(DOCUMENT, "Handbook", number, heading, text, len(text.split()))


def test_a_prompt_and_its_answer_fit_into_the_window_whatever_was_found() -> None:
    tight = writer(AnswerShares(window=400, answer=100, summary=50, question=60, background=300))
    room = tight.room("Be kind.", "Free?")
    assert 0 < room < 300
    prompt = tight.question("Be kind.", "Free?", Background("word " * room))
    assert prompt.prompt_tokens + prompt.max_tokens <= 400 - MARGIN_TOKENS + 1
    assert prompt.max_tokens == 100
    with pytest.raises(TextTooLong):
        tight.question("Be kind.", "Free?", Background("word " * 300))


def test_background_takes_no_more_than_its_share() -> None:
    assert writer().room("", "Free?") == 300


def test_a_guidance_that_leaves_nothing_leaves_no_room() -> None:
    assert writer().room("word " * 900, "Free?") == 0


@pytest.mark.parametrize("question", ["", " \n"])
def test_an_empty_question_is_refused(question: str) -> None:
    with pytest.raises(TextEmpty):
        writer().room("", question)
    with pytest.raises(TextEmpty):
        writer().question("", question)


@pytest.mark.parametrize("question", ["word " * 61, "x" * 100_000])
def test_a_question_that_is_too_long_is_refused(question: str) -> None:
    with pytest.raises(TextTooLong) as refused:
        writer().room("", question)
    assert (refused.value.limit, refused.value.tokens) == (60, 61)


def test_a_summary_has_its_own_cap() -> None:
    prompt = writer().summary([chunk(1, "Returns are free.")])
    assert prompt.max_tokens == 50
    with pytest.raises(TextTooLong):
        writer().summary([chunk(1, "word " * 950)])


def test_sizes_leave_room_for_another_model() -> None:
    sizes = writer().sizes
    assert sizes.whole <= SHARES.background
    assert sizes.stretch < 750
    assert sizes.summaries >= 2
    full = [chunk(number, "word " * (sizes.stretch // 5 - sizes.piece)) for number in range(1, 6)]
    assert writer().summary(full).prompt_tokens < 1000


def test_in_the_smallest_window_two_summaries_still_fit() -> None:
    small = writer(AnswerShares(window=512, answer=400, summary=240, question=512, background=1200))
    assert small.sizes.summaries >= 2
    pieces = [chunk(number, "word " * 64) for number in range(small.sizes.summaries)]
    assert small.summary(pieces).max_tokens == 64


def test_the_overview_comes_first_and_then_what_is_near_the_question() -> None:
    pieces = [chunk(1, "Delivery takes three days."), chunk(2, "Returns are free."), chunk(3, "We like zebras.")]
    found = from_document("Are returns free?", chunk(1, "A handbook of a shop."), pieces, budget=100)
    assert "[1] Handbook\nA handbook of a shop.\n[2] Handbook\nReturns are free." in found.text
    assert "zebras" not in found.text
    assert [(cited.chunk, cited.score) for cited in found.citations] == [(2, 1.0)]
    assert found.tokens == len(found.text.split())


def test_no_more_than_fits_is_shown_and_the_next_one_may_fit() -> None:
    pieces = [chunk(1, "returns free " + "long " * 50), chunk(2, "returns short")]
    found = from_document("returns free", None, pieces, budget=10)
    assert [cited.chunk for cited in found.citations] == [2]
    nothing = from_document("returns free", chunk(1, "too " * 50), pieces[:1], budget=10)
    assert (nothing.text, nothing.tokens, nothing.citations) == ("", 0, ())


def test_a_question_that_shares_no_word_gets_the_beginning() -> None:
    pieces = [chunk(number, f"piece {number}") for number in range(1, 4)]
    found = from_document("What is it about?", None, pieces, budget=9)
    assert [(cited.chunk, cited.score) for cited in found.citations] == [(1, 0.0), (2, 0.0)]


def test_headings_count_as_words() -> None:
    pieces = [chunk(1, "Three days.", "Delivery"), chunk(2, "Two weeks.", "Returns")]
    found = from_document("returns?", None, pieces, budget=100)
    assert [cited.heading for cited in found.citations] == ["Returns"]


def test_a_window_is_told() -> None:
    assert writer().window_tokens == 1000
