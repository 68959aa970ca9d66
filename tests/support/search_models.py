"""An embedding model and a reranker on a real server on loopback, as good or as broken as a test says."""

import asyncio
import json
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.support.loopback_server import a_server_that, one_request

# What the embedding model knows: words that mean the same have the same axis.
AXES: tuple[tuple[str, ...], ...] = (
    ("refund", "money back", "退款", "还钱"),
    ("battery", "accumulator", "电池"),
    ("holiday", "vacation", "假期"),
    ("price", "cost", "价格"),
)


def vector_of(text: str) -> list[float]:
    return [float(any(word in text.lower() for word in axis)) for axis in AXES] + [0.05]


def relevance_of(question: str, text: str) -> float:
    """The share of the text's meanings that are the question's."""
    asked, said = vector_of(question)[:-1], vector_of(text)[:-1]
    return sum(a * b for a, b in zip(asked, said, strict=True)) / max(1.0, sum(said))


@dataclass
class SearchModels:
    """`answers` stand in for what a path would say, with a status; a path in `silent` is never answered."""

    url: str = ""
    key: str = ""
    asked: list[tuple[str, dict[str, object]]] = field(default_factory=list)
    answers: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)

    @property
    def embeddings_url(self) -> str:
        return f"{self.url}/v1/embeddings"

    @property
    def rerank_url(self) -> str:
        return f"{self.url}/v1/rerank"

    def bodies(self, path: str) -> list[dict[str, object]]:
        return [body for asked, body in self.asked if asked == path]

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        while True:
            head, raw = await one_request(reader)
            path, body = head.split()[1].decode(), json.loads(raw)
            self.asked.append((path, body))
            if path in self.silent:
                await asyncio.Event().wait()
            status, answer = self._answer(path, head, body)
            writer.write(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%b" % (status, len(answer), answer))
            await writer.drain()

    def _answer(self, path: str, head: bytes, body: dict[str, object]) -> tuple[int, bytes]:
        if self.key and f"authorization: bearer {self.key}".encode() not in head.lower():
            return 401, b"{}"
        if path in self.answers:
            return self.answers[path]
        if path == "/v1/embeddings":
            return 200, _embeddings(_texts(body["input"]))
        return 200, _ranking(str(body["query"]), _texts(body["documents"]))


@asynccontextmanager
async def search_models() -> AsyncIterator[SearchModels]:
    models = SearchModels()
    async with a_server_that(models.serve) as server:
        models.url = server.url
        yield models


def _texts(value: object) -> list[str]:
    assert isinstance(value, list)
    return [str(text) for text in value]


def _embeddings(texts: Sequence[str]) -> bytes:
    """In another order than asked: the index counts."""
    data = [{"object": "embedding", "index": at, "embedding": vector_of(text)} for at, text in enumerate(texts)]
    return json.dumps({"object": "list", "data": data[::-1], "usage": {"prompt_tokens": 1}}).encode()


def _ranking(question: str, texts: Sequence[str]) -> bytes:
    """Best first, as rerankers answer."""
    results = [
        {"index": at, "document": {"text": text}, "relevance_score": relevance_of(question, text)}
        for at, text in enumerate(texts)
    ]
    return json.dumps({"results": sorted(results, key=lambda each: -float(str(each["relevance_score"])))}).encode()
