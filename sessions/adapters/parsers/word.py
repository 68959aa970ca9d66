"""Word's DOCX: paragraphs, lists and tables of the main text. Macros, pictures, notes and margins are left out."""

import re
from collections.abc import Iterator
from io import BytesIO
from typing import Any
from zipfile import BadZipFile, ZipFile

import docx
from docx.document import Document
from docx.oxml.ns import qn

from sessions.adapters.parsers.outline import Outline
from sessions.domain.chunking import Block
from sessions.errors import DocumentUnreadable

MAX_EXPANDED_BYTES = 256 * 1024 * 1024
MAX_PARTS = 10_000
# Word's protected files, and those of before 2007, are containers of another kind.
_OLD_CONTAINER = bytes.fromhex("d0cf11e0a1b11ae1")
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_BODY_LEVEL = 9
"""Word's outline level of what is no heading; headings have 0 to 8."""


def blocks(raw: bytes, _: int) -> Iterator[Block]:
    _check(raw)
    document = docx.Document(BytesIO(raw))
    return _Text(document).read(document.element.body)


def _check(raw: bytes) -> None:
    """Before anything is unpacked: a small file may hold a very large one."""
    if raw.startswith(_OLD_CONTAINER):
        raise DocumentUnreadable("encrypted", "the document is protected by a password, or in Word's old format")
    try:
        with ZipFile(BytesIO(raw)) as archive:
            parts = archive.infolist()
    except BadZipFile as error:
        raise DocumentUnreadable("malformed", "the document is no DOCX that can be read") from error
    if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_EXPANDED_BYTES:
        raise DocumentUnreadable("too_large", "the document expands to far more than it may")


class _Text:
    def __init__(self, document: Document) -> None:
        self._outline = Outline()
        self._levels = {
            style.style_id: level for style in document.styles if (level := _style_level(style)) is not None
        }

    def read(self, parent: Any) -> Iterator[Block]:
        for child in parent:
            if child.tag == qn("w:p"):
                yield from self._paragraph(child)
            elif child.tag == qn("w:tbl"):
                yield from self._table(child)
            elif child.tag in (qn("w:sdt"), qn("w:sdtContent"), qn("w:ins"), qn("w:moveTo"), qn("w:customXml")):
                yield from self.read(child)

    def _paragraph(self, paragraph: Any) -> Iterator[Block]:
        text = _text(paragraph)
        level = self._level(paragraph)
        if level is not None:
            self._outline.enter(level, text)
        elif text.strip():
            is_item = bool(paragraph.xpath("./w:pPr/w:numPr"))
            yield Block(self._outline.path, f"- {text}" if is_item else text)

    def _table(self, table: Any) -> Iterator[Block]:
        for row in table.iterchildren(qn("w:tr")):
            cells = row.xpath("./w:tc | ./w:sdt/w:sdtContent/w:tc")
            texts = [" ".join(_text(one) for one in cell.xpath(".//w:p")).strip() for cell in cells]
            if any(texts):
                yield Block(self._outline.path, " | ".join(texts))

    def _level(self, paragraph: Any) -> int | None:
        own = paragraph.xpath("./w:pPr/w:outlineLvl/@w:val")
        if own:
            return int(own[0]) if int(own[0]) < _BODY_LEVEL else None
        style = paragraph.xpath("./w:pPr/w:pStyle/@w:val")
        return self._levels.get(style[0]) if style else None


def _style_level(style: Any) -> int | None:
    found = _HEADING.fullmatch(style.name or "")
    if found:
        return int(found[1]) - 1
    if style.name == "Title":
        return -1
    levels = style.element.xpath("./w:pPr/w:outlineLvl/@w:val")
    return int(levels[0]) if levels and int(levels[0]) < _BODY_LEVEL else None


def _text(paragraph: Any) -> str:
    """Also of links and of what was inserted while changes were tracked; not what is deleted, hidden, or repeated for
    older readers."""
    seen = "[not(ancestor::w:r/w:rPr/w:vanish) and not(ancestor::*[local-name()='Fallback'])]"
    found = paragraph.xpath(f".//w:t{seen} | .//w:tab[parent::w:r]{seen} | .//w:br{seen} | .//w:cr{seen}")
    return "".join(_characters(element) for element in found)


def _characters(element: Any) -> str:
    if element.tag == qn("w:t"):
        return element.text or ""
    return "\t" if element.tag == qn("w:tab") else "\n"
