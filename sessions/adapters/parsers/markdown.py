"""Markdown (CommonMark with tables): its text without its marks."""

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from sessions.adapters.parsers import html
from sessions.adapters.parsers.outline import Outline
from sessions.adapters.parsers.plain import decoded
from sessions.domain.chunking import Block
from sessions.errors import DocumentUnreadable

_MAX_NESTING = 200

_FRONT_MATTER = re.compile(r"\A---[^\S\n]*\n(.*?\n)(?:---|\.\.\.)[^\S\n]*(?:\n|\Z)", re.DOTALL)
_WIDE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")


def blocks(raw: bytes, _: int) -> Iterator[Block]:
    text = decoded(raw).replace("\r\n", "\n").replace("\r", "\n")
    front = _FRONT_MATTER.match(text)
    if front is not None:
        yield Block((), front[1])
        text = text[front.end() :]
    tokens = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING}).enable("table").parse(text)
    if any(token.level >= _MAX_NESTING - 1 for token in tokens):
        # The library leaves out what is deeper, and a part of a text is not the text.
        raise DocumentUnreadable("too_large", "the text is nested too deeply")
    yield from _Page().read(tokens)


class _Page:
    def __init__(self) -> None:
        self._outline = Outline()
        self._items: list[str] = []
        """The mark of each list item that is open, until its first line has taken it."""
        self._row: list[str] | None = None

    def read(self, tokens: Sequence[Token]) -> Iterator[Block]:
        heading = 0
        for token in tokens:
            match token.type:
                case "heading_open":
                    heading = int(token.tag[1:])
                case "inline" if heading:
                    self._outline.enter(heading, _inline(token))
                    heading = 0
                case "inline" if self._row is not None:
                    self._row.append(_inline(token).replace("\n", " "))
                case "inline":
                    yield self._block(self._mark() + _inline(token))
                case "fence" | "code_block":
                    yield self._block(self._mark() + token.content)
                case "html_block":
                    yield from (self._block(block.text) for block in html.blocks_of(token.content))
                case _:
                    yield from self._around(token)

    def _around(self, token: Token) -> Iterator[Block]:
        """Tokens that have no text of their own."""
        if token.type == "list_item_open":
            self._items.append(f"{token.info}{token.markup} " if token.info else "- ")
        elif token.type == "list_item_close":
            self._items.pop()
        elif token.type == "tr_open":
            self._row = []
        elif token.type == "tr_close" and self._row is not None:
            row, self._row = self._row, None
            yield self._block(" | ".join(row))

    def _mark(self) -> str:
        mark = self._items[-1] if self._items else ""
        if mark:
            self._items[-1] = ""
        return mark

    def _block(self, text: str) -> Block:
        return Block(self._outline.path, text)


def _inline(token: Token) -> str:
    """What a reader sees of a line."""
    text = ""
    for child in token.children or ():
        if child.type == "softbreak":
            text += "" if _WIDE.match(text[-1:]) else " "  # looked for in the whole text, it takes hours
        elif child.type == "hardbreak":
            text += "\n"
        elif child.type != "html_inline":
            text += child.content  # of a picture: what it is said to show
    return text
