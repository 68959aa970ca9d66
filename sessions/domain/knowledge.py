"""Knowledge bases: documents of one tenant, cut into the chunks that background is made of."""

import hashlib
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sessions.domain.citation import DocumentId, KnowledgeBaseId
from sessions.domain.viewer import AccountId, TenantId
from sessions.errors import KnowledgeInvalid

MAX_NAME_CHARACTERS = 200
MAX_GUIDANCE_CHARACTERS = 4000
"""Whether it fits beside persona and instructions is told when a scenario names the base."""

FIRST_VERSION = 1


class MediaType(StrEnum):
    """What a document may be written in."""

    TEXT = "text/plain"
    MARKDOWN = "text/markdown"
    HTML = "text/html"
    PDF = "application/pdf"
    DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """A shelf of documents. `version` grows with every change of its documents, so that an index knows its age."""

    id: KnowledgeBaseId
    tenant: TenantId
    name: str
    guidance: str
    """How the tutor is to use it; frozen into each scenario version that names the base."""
    version: int
    document_count: int
    chunk_count: int
    created_by: AccountId
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Document:
    """One upload. Its id stands for this content: a newer one of the same name has another id."""

    id: DocumentId
    tenant: TenantId
    base: KnowledgeBaseId
    name: str
    media_type: MediaType
    sha256: str
    size_bytes: int
    tokens: int
    """Of all its chunks together, by the served model's tokenizer."""
    chunk_count: int
    created_by: AccountId
    created_at: datetime
    flagged_chunks: int = 0
    """In which the rules of the upload's day found something that does not block."""

    def says_the_same_as(self, other: "Document") -> bool:
        """Whether storing one in place of the other would change nothing that anybody can read."""
        return (self.name, self.media_type, self.sha256, self.tokens, self.chunk_count) == (
            other.name,
            other.media_type,
            other.sha256,
            other.tokens,
            other.chunk_count,
        )


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document that is found and shown as a whole."""

    document: DocumentId
    document_name: str
    number: int
    """From 1, in the order of the text."""
    heading: str
    """The headings above it, outermost first, joined by " > "; empty where the document has none."""
    text: str
    tokens: int


class Shelving(StrEnum):
    """What became of a document that was put into a base."""

    ADDED = "added"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Shelved:
    """The document as it stands in the base now; the earlier one where nothing had changed."""

    document: Document
    shelving: Shelving


@dataclass(frozen=True, slots=True)
class Contents:
    """Every chunk of a base as it was at one version, by document's age and number."""

    version: int
    chunks: tuple[Chunk, ...]


def checked_name(name: str) -> str:
    """The name of a base or a document without blanks around it; raises `KnowledgeInvalid`."""
    bare = name.strip()
    if not bare:
        raise KnowledgeInvalid("name", "the name is empty")
    if len(bare) > MAX_NAME_CHARACTERS:
        raise KnowledgeInvalid("name", f"a name has at most {MAX_NAME_CHARACTERS} characters, not {len(bare)}")
    if any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in bare):
        raise KnowledgeInvalid("name", "control characters and line breaks are not allowed")
    return bare


def checked_guidance(guidance: str) -> str:
    """The guidance without blanks around it; raises `KnowledgeInvalid`."""
    bare = guidance.strip()
    if len(bare) > MAX_GUIDANCE_CHARACTERS:
        raise KnowledgeInvalid(
            "guidance", f"a guidance has at most {MAX_GUIDANCE_CHARACTERS} characters, not {len(bare)}"
        )
    return bare


def digest(raw: bytes) -> str:
    """SHA-256 of an upload: equal digests, equal bytes."""
    return hashlib.sha256(raw).hexdigest()
