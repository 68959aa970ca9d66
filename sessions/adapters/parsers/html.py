"""HTML: what a reader sees of the page, without scripts, styles and navigation. Nothing is ever fetched."""

from collections.abc import Iterator
from typing import Any

from lxml import etree, html

from sessions.adapters.parsers.outline import Outline
from sessions.adapters.parsers.plain import decoded
from sessions.domain.chunking import Block
from sessions.errors import DocumentUnreadable

_UNSEEN_TAGS = "audio canvas dialog embed head iframe math menu nav noscript object script style svg template video"
_INLINE_TAGS = (
    "a abbr b bdi bdo button cite code data del dfn em font i img input ins kbd label mark q rp rt ruby s samp small"
    " span strike strong sub sup time tt u var wbr"
)
_UNSEEN = frozenset(_UNSEEN_TAGS.split())
_INLINE = frozenset(_INLINE_TAGS.split())
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


def blocks(raw: bytes, _: int) -> Iterator[Block]:
    return blocks_of(decoded(raw))


def blocks_of(text: str) -> Iterator[Block]:
    if not text.strip():
        return iter(())
    # The text is UTF-8 whatever the page says of itself: it has been decoded.
    parser = html.HTMLParser(remove_comments=True, remove_pis=True, no_network=True, huge_tree=True, encoding="utf-8")
    try:
        root = html.document_fromstring(text.encode(), parser=parser)
    except etree.ParserError:  # nothing in it but comments
        return iter(())
    if any(fault.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for fault in parser.error_log):
        # The library leaves out what is deeper, and a part of a page is not the page.
        raise DocumentUnreadable("too_large", "the page is nested too deeply")
    return iter(_Page().read(root))


class _Page:
    def __init__(self) -> None:
        self._outline = Outline()
        self._found: list[Block] = []
        self._line = ""
        self._is_preformatted = False

    def read(self, root: Any) -> list[Block]:
        self._element(root)
        self._end_block()
        return self._found

    def _element(self, element: Any) -> None:
        tag = element.tag
        if not isinstance(tag, str) or tag in _UNSEEN or _is_hidden(element):
            return
        if tag in _HEADINGS:
            self._end_block()
            self._outline.enter(_HEADINGS[tag], " ".join(element.text_content().split()))
        elif tag == "br":
            self._line += "\n"
        elif tag == "tr":
            self._end_block()
            self._row(element)
        elif tag in _INLINE:
            self._inside(element)
        else:
            self._block(element, tag)

    def _block(self, element: Any, tag: str) -> None:
        self._end_block()
        was, self._is_preformatted = self._is_preformatted, self._is_preformatted or tag == "pre"
        if tag == "li":
            self._line = "- "
        self._inside(element)
        self._end_block()
        self._is_preformatted = was

    def _row(self, row: Any) -> None:
        """The cells in one line; what else is in a cell is text of the cell."""
        cells = [_Page().read(cell) for cell in row if cell.tag in ("td", "th")]
        texts = [" ".join(block.text.replace("\n", " ") for block in cell) for cell in cells]
        if any(texts):
            self._found.append(Block(self._outline.path, " | ".join(texts)))

    def _inside(self, element: Any) -> None:
        self._text(element.text)
        for child in element:
            self._element(child)
            self._text(child.tail)

    def _text(self, text: str | None) -> None:
        if not text:
            return
        if self._is_preformatted:
            self._line += text
            return
        words = " ".join(text.split())
        before = " " if text[0].isspace() and self._line[-1:] not in ("", " ", "\n") else ""
        after = " " if words and text[-1].isspace() else ""
        self._line += before + words + after

    def _end_block(self) -> None:
        text = self._line.strip()
        self._line = ""
        if text and text != "-":
            self._found.append(Block(self._outline.path, text))


def _is_hidden(element: Any) -> bool:
    style = element.get("style", "").replace(" ", "").lower()
    return (
        "hidden" in element.attrib
        or element.get("aria-hidden") == "true"
        or "display:none" in style
        or "visibility:hidden" in style
    )
