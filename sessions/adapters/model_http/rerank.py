"""A reranker behind `/v1/rerank`, as vLLM, Jina and Cohere speak it."""

import math
from collections.abc import Sequence

import msgspec
from typing_extensions import override

from sessions.adapters.model_http.endpoint import ModelEndpoint
from sessions.search_ports import Reranker


class _Judged(msgspec.Struct):
    index: int
    relevance_score: float


class _Answer(msgspec.Struct):
    results: list[_Judged]


class HttpReranker(Reranker):
    def __init__(self, *, endpoint: ModelEndpoint, model: str, within_s: float) -> None:
        self._endpoint = endpoint
        self._model = model
        self._within_s = within_s

    @override
    async def relevance(self, question: str, texts: Sequence[str]) -> Sequence[float] | None:
        body = {"model": self._model, "query": question, "documents": list(texts), "top_n": len(texts)}
        answer = await self._endpoint.ask(body, within_s=self._within_s)
        if answer is None:
            return None
        scores = _scores(answer, len(texts))
        if scores is None:
            self._endpoint.failed("the answer is no ranking of the texts")
        else:
            self._endpoint.worked()
        return scores


def _scores(answer: bytes, texts: int) -> Sequence[float] | None:
    """None unless each text is judged once, by a number."""
    try:
        results = msgspec.json.decode(answer, type=_Answer).results
    except (msgspec.DecodeError, RecursionError):  # the latter of what is nested without end
        return None
    by_index = {each.index: each.relevance_score for each in results}
    if len(results) != texts or set(by_index) != set(range(texts)) or not all(map(math.isfinite, by_index.values())):
        return None
    return [by_index[index] for index in range(texts)]
