"""An embedding model behind OpenAI's `/v1/embeddings`."""

import math
import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from typing_extensions import override

from sessions.adapters.model_http.endpoint import ModelEndpoint
from sessions.search_ports import Embedder

_MANY_WITHIN_S = 60.0
"""Of a batch of passages, for which nobody waits."""


class _Vector(msgspec.Struct):
    index: int
    embedding: list[float]


class _Answer(msgspec.Struct):
    data: list[_Vector]


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What some models want to read before a question, and before a text that is to be found."""

    question: str = ""
    passage: str = ""


class HttpEmbedder(Embedder):
    def __init__(
        self, *, endpoint: ModelEndpoint, model: str, within_s: float, prefixes: Prefixes = Prefixes()
    ) -> None:
        self._endpoint = endpoint
        self._model = model
        self._within_s = within_s
        self._prefixes = prefixes

    @property
    @override
    def model(self) -> str:
        return self._model

    @override
    async def question(self, text: str) -> bytes | None:
        made = await self._made([self._prefixes.question + text], self._within_s)
        return None if made is None else made[0]

    @override
    async def passages(self, texts: Sequence[str]) -> Sequence[bytes] | None:
        return await self._made([self._prefixes.passage + text for text in texts], _MANY_WITHIN_S)

    async def _made(self, texts: Sequence[str], within_s: float) -> Sequence[bytes] | None:
        body = {"model": self._model, "input": texts, "encoding_format": "float"}
        answer = await self._endpoint.ask(body, within_s=within_s)
        if answer is None:
            return None
        vectors = _vectors(answer, len(texts))
        if vectors is None:
            self._endpoint.failed("the answer is no vector for each text")
        else:
            self._endpoint.worked()
        return vectors


def _vectors(answer: bytes, texts: int) -> Sequence[bytes] | None:
    """None unless each text has one, of finite numbers and of the same length."""
    try:
        data = msgspec.json.decode(answer, type=_Answer).data
    except (msgspec.DecodeError, RecursionError):  # the latter of what is nested without end
        return None
    by_index = {each.index: each.embedding for each in data}
    lengths = {len(vector) for vector in by_index.values()}
    if len(data) != texts or set(by_index) != set(range(texts)) or len(lengths) != 1 or lengths == {0}:
        return None
    # As they are kept: a number may be too large for 32 bits.
    vectors = [array("f", by_index[index]) for index in range(texts)]
    return None if any(not all(map(math.isfinite, vector)) for vector in vectors) else [_packed(v) for v in vectors]


def _packed(vector: "array[float]") -> bytes:
    if sys.byteorder == "big":
        vector.byteswap()
    return vector.tobytes()
