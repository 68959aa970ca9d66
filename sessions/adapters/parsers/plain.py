"""Plain text: paragraphs between blank lines."""

import re
from collections.abc import Iterator

from sessions.domain.chunking import Block
from sessions.errors import DocumentUnreadable

_BLANK_LINES = re.compile(r"\n[^\S\n]*\n\s*")


def blocks(raw: bytes, _: int) -> Iterator[Block]:
    text = decoded(raw).replace("\r\n", "\n").replace("\r", "\n")
    return (Block((), paragraph) for paragraph in _BLANK_LINES.split(text) if paragraph.strip())


def decoded(raw: bytes) -> str:
    """Raises `DocumentUnreadable`; a guess at another encoding would put nonsense before trainees."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentUnreadable("not_utf8", f"the document is not UTF-8 at byte {error.start}") from None
