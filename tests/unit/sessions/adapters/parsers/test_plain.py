"""Plain text is UTF-8, in paragraphs."""

import pytest

from sessions.adapters.parsers.plain import blocks
from sessions.errors import DocumentUnreadable


def test_blank_lines_part_paragraphs() -> None:
    found = blocks("\ufeffFirst line\nsecond line\r\n \t\r\n\r\n第三行\r第四行\n".encode(), 1)
    assert [(block.headings, block.text.strip()) for block in found] == [
        ((), "First line\nsecond line"),
        ((), "第三行\n第四行"),
    ]


def test_nothing_is_no_block() -> None:
    assert list(blocks(b"", 1)) == []
    assert list(blocks(b" \n\n \n", 1)) == []


@pytest.mark.parametrize("raw", ["价格".encode("gb18030"), "A".encode("utf-16"), b"ok \xff"])
def test_another_encoding_is_refused_and_not_guessed(raw: bytes) -> None:
    with pytest.raises(DocumentUnreadable) as caught:
        list(blocks(raw, 1))
    assert caught.value.reason == "not_utf8"
    assert "byte" in str(caught.value)
