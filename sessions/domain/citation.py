"""Background knowledge as a turn uses it: the text that stands before the message, and where each piece is from."""

from dataclasses import dataclass
from typing import NewType
from uuid import UUID

KnowledgeBaseId = NewType("KnowledgeBaseId", UUID)
DocumentId = NewType("DocumentId", UUID)


@dataclass(frozen=True, slots=True)
class Citation:
    """One piece of a document that was shown to the tutor; stored with the turn, without the piece's text."""

    document: DocumentId
    document_name: str
    chunk: int
    """The piece's number in its document, from 1."""
    heading: str
    """The headings above it, outermost first, joined by " > "; empty where the document has none."""
    score: float
    """Of the ranking that chose it; comparable within one turn only."""


@dataclass(frozen=True, slots=True)
class Background:
    """What was found for one message. `text` is ready to stand in a prompt except for the served model's special
    tokens, which whoever writes the prompt neutralises."""

    text: str = ""
    tokens: int = 0
    citations: tuple[Citation, ...] = ()


NO_BACKGROUND = Background()
