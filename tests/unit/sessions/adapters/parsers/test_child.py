"""What the reading process answers, whatever it is given."""

from typing import cast

import pytest

from sessions.adapters.parsers.child import MODULES, read
from sessions.domain.chunking import MAX_HEADING_CHARACTERS
from sessions.domain.knowledge import MediaType
from tests.support.document_files import docx_of, pdf_of

TEXT = "A pump costs 48 yuan."
FILES = {
    MediaType.TEXT: TEXT.encode(),
    MediaType.MARKDOWN: f"**{TEXT}**".encode(),
    MediaType.HTML: f"<p>{TEXT}</p>".encode(),
    MediaType.PDF: pdf_of(TEXT),
    MediaType.DOCX: docx_of(("Normal", TEXT)),
}


@pytest.mark.parametrize("media_type", MediaType)
def test_every_format_has_a_reader(media_type: MediaType) -> None:
    assert set(MODULES) == set(MediaType)
    (line,) = read(media_type, FILES[media_type], max_characters=100, max_pages=1)
    assert line == {"headings": ("p. 1",) if media_type is MediaType.PDF else (), "texts": [TEXT]}


def test_a_text_of_too_many_characters_is_refused() -> None:
    (answer,) = read(MediaType.TEXT, b"12345\n\n67890", max_characters=9, max_pages=1)
    assert answer["reason"] == "too_long"
    assert "9 characters" in str(answer["detail"])
    assert "texts" in read(MediaType.TEXT, b"12345\n\n67890", max_characters=10, max_pages=1)[0]


def test_headings_are_told_once_for_what_stands_below_and_no_longer_than_they_are_kept() -> None:
    """A long heading over many short paragraphs was more than a thousand times the document."""
    raw = b"# " + b"h" * 20_000 + b"\n\n" + b"a\n\n" * 2_500
    lines = read(MediaType.MARKDOWN, raw, max_characters=10_000, max_pages=1)
    assert [line["headings"] for line in lines] == [("h" * MAX_HEADING_CHARACTERS,)] * 3
    assert [text for line in lines for text in cast(list[str], line["texts"])] == ["a"] * 2_500


def test_many_long_headings_are_refused() -> None:
    above = b"# " + b"h" * 300 + b"\n\n## " + b"i" * 300 + b"\n\n"
    raw = above + b"".join(b"### %d\n\na\n\n" % number for number in range(20))
    assert read(MediaType.MARKDOWN, raw, max_characters=12_000, max_pages=1)[0]["reason"] == "too_long"
    assert len(read(MediaType.MARKDOWN, raw, max_characters=13_000, max_pages=1)) == 20


@pytest.mark.parametrize(
    ("media_type", "raw"),
    [
        (MediaType.TEXT, b" \n"),
        (MediaType.HTML, b"<img src=x>"),
        (MediaType.PDF, pdf_of("")),
        (MediaType.MARKDOWN, b"#"),
    ],
)
def test_a_document_without_text_is_refused(media_type: MediaType, raw: bytes) -> None:
    assert read(media_type, raw, max_characters=100, max_pages=1)[0]["reason"] == "no_text"


def test_what_a_format_refuses_is_told() -> None:
    assert read(MediaType.PDF, b"no", max_characters=9, max_pages=1)[0]["reason"] == "malformed"


def test_a_page_that_is_nested_too_deeply_is_refused() -> None:
    deep = b"<div>" * 1500 + b"bottom"  # deeper than this process may go down, as too deep a page is for any
    assert read(MediaType.HTML, deep, max_characters=99, max_pages=1)[0]["reason"] == "too_large"
