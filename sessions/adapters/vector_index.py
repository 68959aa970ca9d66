"""Vectors in memory as one matrix, searched by comparing a question with all of them."""

import asyncio
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from sessions.domain.ranking import Hit, Place
from sessions.search_ports import VectorIndex, VectorIndexer

_FLOAT = np.dtype("<f4")


class MatrixIndexer(VectorIndexer):
    @override
    async def index(self, vectors: Mapping[Place, bytes]) -> VectorIndex:
        return await asyncio.to_thread(MatrixIndex, vectors)


class MatrixIndex(VectorIndex):
    def __init__(self, vectors: Mapping[Place, bytes]) -> None:
        length = len(next(iter(vectors.values()), b""))
        alike = {place: vector for place, vector in vectors.items() if len(vector) == length}
        self._places = list(alike)
        self._rows = _unit(
            np.frombuffer(b"".join(alike.values()), _FLOAT).reshape(len(alike), length // _FLOAT.itemsize)
        )

    @property
    @override
    def size_bytes(self) -> int:
        return self._rows.nbytes

    @override
    async def nearest(self, vector: bytes, *, limit: int) -> Sequence[Hit]:
        return await asyncio.to_thread(self._nearest, vector, limit)

    def _nearest(self, vector: bytes, limit: int) -> Sequence[Hit]:
        if not self._places or len(vector) != self._rows.shape[1] * _FLOAT.itemsize:
            return []
        cosines = self._rows @ _unit(np.frombuffer(vector, _FLOAT).reshape(1, -1))[0]
        best = np.argsort(-cosines, kind="stable")[:limit]
        return [Hit(self._places[row], float(cosines[row])) for row in best]


def _unit(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Of length 1 each; a vector of zeros stays, and is near to nothing."""
    if not rows.size:
        return rows.astype(np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: npt.NDArray[np.float32] = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return unit
