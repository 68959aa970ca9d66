"""Where sentences end, in streams of Chinese and English."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.moderation.guard_sentences import LONGEST, SentenceCutter


def cut(text: str, step: int = 0) -> list[str]:
    cutter = SentenceCutter()
    pieces = [text[at : at + step] for at in range(0, len(text), step)] if step else [text]
    return [sentence for piece in pieces for sentence in cutter.feed(piece)] + cutter.finish()


@pytest.mark.parametrize(
    "sentences",
    [
        ["Good morning. ", "How are you? ", "Fine!"],
        ["您好！", "请问有什么可以帮您？", "我想买保险。"],
        ["他说：“好的。”", "然后走了。"],
        ["“真的吗？！”", "她问……", "没人回答"],
        ['He said: "Stop!" ', "Then he left."],
        ["It costs 3.14 dollars (about 22.50 yuan). ", "Is it much?"],
        ["Ask Dr. Li, e.g. about J. Smith vs. Mr. Wang. ", "She knows."],
        ["Look at www.example.com/a?b=c!d for it. ", "Then call."],
        ["1. First you open it.\n", "2. Then you close it.\n", "完成"],
        ["Wait... ", "what?! ", "No way."],
        ["OK!", "好的。", "Bye."],
        ["第一行\n\n", "第二行 \n", "- 第三行"],
        ["价格是3.5元。 ", "不贵"],
        ["Version 2. ", "Now."],
        ["   "],
        [],
    ],
    ids=lambda sentences: "|".join(sentences) or "nothing",
)
def test_sentences_end_where_a_reader_would_say_so(sentences: list[str]) -> None:
    text = "".join(sentences)
    assert cut(text) == sentences
    assert cut(text, 1) == sentences


def test_a_sentence_is_told_as_soon_as_the_next_one_begins() -> None:
    cutter = SentenceCutter()
    assert cutter.feed("It is so.") == []
    assert cutter.feed(" ") == []
    assert cutter.feed("N") == ["It is so. "]
    assert cutter.finish() == ["N"]
    assert cutter.finish() == []


def test_what_never_ends_is_cut_where_it_breathes() -> None:
    first, second = cut("word, " * 80)[0], cut("x" * (LONGEST + 1))
    assert first == ("word, " * 80)[:LONGEST][: len(first)]
    assert first.endswith((" ", ","))
    assert [len(piece) for piece in second] == [LONGEST, 1]


def test_marks_without_end_cost_no_more_than_other_text() -> None:
    began = time.process_time()
    cut("!" * 100_000)
    cut("." * 50_000 + "”" * 50_000)
    cut("!" * 2_000, 1)
    assert time.process_time() - began < 2.0


TEXTS = st.text(alphabet='aB3 .!?。！？…,，\n"”)好e.g', max_size=60)


@given(texts=st.lists(TEXTS | st.just("长" * 150) | st.just("word " * 40), max_size=8), step=st.integers(1, 7))
def test_any_cutting_of_the_text_gives_the_same_sentences(texts: list[str], step: int) -> None:
    text = "".join(texts)
    whole = cut(text)
    assert "".join(whole) == text
    assert all(0 < len(sentence) <= LONGEST for sentence in whole)
    assert cut(text, step) == whole
