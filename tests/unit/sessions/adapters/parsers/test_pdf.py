"""The text layer of a PDF."""

import pytest

from sessions.adapters.parsers.pdf import blocks, paragraphs
from sessions.errors import DocumentUnreadable
from tests.support.document_files import pdf_of


def reason(raw: bytes, pages: int = 10) -> str:
    with pytest.raises(DocumentUnreadable) as caught:
        list(blocks(raw, pages))
    return caught.value.reason


def test_each_page_is_told_apart() -> None:
    raw = pdf_of("A pump costs 48 yuan (net).\nAsk for more.", "", "Thirty days.")
    assert [(block.headings, block.text) for block in blocks(raw, 3)] == [
        (("p. 1",), "A pump costs 48 yuan (net)."),
        (("p. 1",), "Ask for more."),
        (("p. 3",), "Thirty days."),
    ]


def test_pages_without_text_give_nothing() -> None:
    assert list(blocks(pdf_of("", ""), 10)) == []


def test_what_cannot_be_read_is_refused_with_its_reason() -> None:
    assert reason(pdf_of("a", encrypted=True)) == "encrypted"
    assert reason(pdf_of("a", "b", "c"), 2) == "too_long"
    assert reason(b"this is no PDF") == "malformed"
    assert reason(b"") == "malformed"


def test_full_lines_go_on_in_the_next() -> None:
    page = (
        "The warranty of a pump is twenty-four months from the day on which it was\n"
        "delivered, and covers the mo-\n"
        "tor.\n"
        "Short line\n"
        "Another short line"
    )
    assert paragraphs(page) == [
        "The warranty of a pump is twenty-four months from the day on which it was delivered, and covers the mo-",
        "tor.",
        "Short line",
        "Another short line",
    ]


def test_a_word_that_was_parted_is_one_again() -> None:
    assert paragraphs("a warranty of twenty-four mon-\nths and no more than that") == [
        "a warranty of twenty-four months and no more than that"
    ]
    assert paragraphs("it is model AX-\n4471 of the year") == ["it is model AX- 4471 of the year"]


def test_chinese_lines_are_joined_without_a_blank() -> None:
    assert paragraphs("本公司水泵的保修期为二十四个月,自客\n户签收之日起计算。\n\n另有约定的除外。") == [
        "本公司水泵的保修期为二十四个月,自客户签收之日起计算。",
        "另有约定的除外。",
    ]


def test_nothing_is_no_paragraph() -> None:
    assert paragraphs("") == []
    assert paragraphs(" \n\n ") == []
