"""What the search of knowledge needs from outside: indexes of chunks, and two kinds of models that may be away."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from sessions.domain.knowledge import Chunk
from sessions.domain.ranking import Hit, Place, Question


class ChunkIndex(Protocol):
    """Chunks searchable by their words. It never changes: other chunks are another index."""

    def question(self, text: str) -> Question:
        """The text's terms as this index knows them, with their weights."""

    def recall(self, question: Question, *, limit: int) -> Sequence[Hit]:
        """The chunks that hold any of the question's terms, best first."""

    def terms_of(self, place: Place) -> Sequence[int]:
        """A chunk's terms in their order, heading first."""


class Indexer(Protocol):
    async def index(self, chunks: Sequence[Chunk]) -> ChunkIndex:
        """Made beside the loop: others go on meanwhile."""


class VectorIndex(Protocol):
    """Chunks searchable by what an embedding model made of them."""

    @property
    def size_bytes(self) -> int: ...

    async def nearest(self, vector: bytes, *, limit: int) -> Sequence[Hit]:
        """By cosine, best first, and beside the loop; none when the vector is of another length."""


class VectorIndexer(Protocol):
    async def index(self, vectors: Mapping[Place, bytes]) -> VectorIndex:
        """Made beside the loop. Vectors are 32-bit floats, little-endian; those of another length than the first are
        left out."""


class Embedder(Protocol):
    """A model that turns texts into vectors."""

    @property
    def model(self) -> str: ...

    async def question(self, text: str) -> bytes | None:
        """A question's vector; None when the model is away, slow or answers wrongly, which is counted."""

    async def passages(self, texts: Sequence[str]) -> Sequence[bytes] | None:
        """Likewise for texts that are to be found, with more patience."""


class Reranker(Protocol):
    """A model that judges how well texts answer a question."""

    async def relevance(self, question: str, texts: Sequence[str]) -> Sequence[float] | None:
        """One number from 0 to 1 for each text; None when the model is away, slow or answers wrongly, which is
        counted."""
