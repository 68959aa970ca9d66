"""Writes the background of a message: pieces of documents, numbered and named.

The frame around it is the prompt's. What stands in a piece cannot pass for another piece: a number in brackets that
begins a line is written with other brackets.
"""

import re
from collections.abc import Sequence

from sessions.domain.citation import Citation
from sessions.domain.knowledge import Chunk
from sessions.domain.ranking import Hit

_NUMBER = re.compile(r"^([^\S\n]*)[\[［](\d+)[\]］]", re.MULTILINE)


def background_text(pieces: Sequence[Chunk]) -> str:
    """The pieces numbered from 1, each under the name of its document and its headings; empty without any."""
    return "\n".join(f"[{number}] {_source(piece)}\n{_body(piece)}" for number, piece in enumerate(pieces, start=1))


def cited(pieces: Sequence[Chunk], hits: Sequence[Hit]) -> tuple[Citation, ...]:
    """Where the pieces are from, in their order."""
    return tuple(citation(piece, hit.score) for piece, hit in zip(pieces, hits, strict=True))


def citation(piece: Chunk, score: float) -> Citation:
    return Citation(piece.document, piece.document_name, piece.number, piece.heading, round(score, 6))


def _body(piece: Chunk) -> str:
    return _NUMBER.sub(r"\1(\2)", piece.text.strip())


def _source(piece: Chunk) -> str:
    """On one line, whatever a name holds."""
    return " ".join(" > ".join(part for part in (piece.document_name, piece.heading) if part).split())
