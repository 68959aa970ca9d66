"""PDF: its text layer, page by page. A scan has none, and nothing here reads pictures."""

import re
from collections.abc import Iterator
from io import BytesIO

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from sessions.domain.chunking import Block
from sessions.errors import DocumentUnreadable

_BLANK_LINES = re.compile(r"\n[^\S\n]*\n\s*")
_ENDS_A_SENTENCE = re.compile(r"[.。!?!?:;:;…][\"'”’)」』)]*\Z")
_WIDE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")
_FULL_LINE = 0.6


def blocks(raw: bytes, max_pages: int) -> Iterator[Block]:
    try:
        yield from _pages(raw, max_pages)
    except PyPdfError as error:
        raise DocumentUnreadable("malformed", "the document is no PDF that can be read") from error


def _pages(raw: bytes, max_pages: int) -> Iterator[Block]:
    reader = PdfReader(BytesIO(raw))
    if reader.is_encrypted:
        raise DocumentUnreadable("encrypted", "the PDF is encrypted; save it without protection")
    if len(reader.pages) > max_pages:
        raise DocumentUnreadable("too_long", f"the PDF has {len(reader.pages)} pages; the limit is {max_pages}")
    for number, page in enumerate(reader.pages, start=1):
        for paragraph in paragraphs(page.extract_text()):
            yield Block((f"p. {number}",), paragraph)


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a page. A PDF knows lines only: one that is full goes on in the next."""
    lines = [[line.strip() for line in part.split("\n")] for part in _BLANK_LINES.split(text)]
    full = _FULL_LINE * max((len(line) for part in lines for line in part), default=0)
    return [joined for part in lines for joined in _joined(part, full)]


def _joined(lines: list[str], full: float) -> list[str]:
    found: list[str] = []
    goes_on = False
    for line in lines:
        if goes_on and line:
            found[-1] = _with(found[-1], line)
        elif line:
            found.append(line)
        goes_on = bool(line) and len(line) >= full and not _ENDS_A_SENTENCE.search(line)
    return found


def _with(before: str, line: str) -> str:
    """Chinese has no blanks between words, and a word that is cut by a hyphen is one word."""
    if before.endswith("-") and before[-2:-1].isalpha() and line[0].islower():
        return before[:-1] + line
    is_wide = _WIDE.match(before[-1]) and _WIDE.match(line[0])
    return before + ("" if is_wide else " ") + line
