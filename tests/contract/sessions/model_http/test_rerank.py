"""A reranker judges every text once, or is not believed."""

import httpx
import pytest

from sessions.adapters.model_http.rerank import HttpReranker
from tests.contract.sessions.model_http.conftest import endpoint
from tests.support.search_models import SearchModels
from tests.support.session_fakes import FakeClock

TEXTS = ["about the holiday", "about the battery", "how to get a refund"]


async def test_each_text_has_its_relevance_in_the_order_asked(
    models: SearchModels, client: httpx.AsyncClient, clock: FakeClock
) -> None:
    reranker = HttpReranker(endpoint=endpoint(client, models.rerank_url, clock), model="judge", within_s=5)
    assert await reranker.relevance("money back?", TEXTS) == [0.0, 0.0, 1.0]
    assert models.bodies("/v1/rerank") == [
        {"model": "judge", "query": "money back?", "documents": TEXTS, "top_n": 3},
    ]


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b'{"results": [], "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b"<html>",
        b"{}",
        b'{"results": []}',
        b'{"results": [{"index": 0, "relevance_score": 1}]}',
        b'{"results": [{"index": 0, "relevance_score": 1}, {"index": 0, "relevance_score": 1}]}',
        b'{"results": [{"index": 0, "relevance_score": 1}, {"index": 2, "relevance_score": 1}]}',
        b'{"results": [{"index": 0, "relevance_score": 1}, {"index": 1, "relevance_score": "high"}]}',
        b'{"results": [{"index": 0, "relevance_score": 1}, {"index": 1, "relevance_score": null}]}',
        b'{"results": [{"index": 0, "relevance_score": 1}, {"index": 1, "relevance_score": 1e999}]}',
    ],
)
async def test_a_wrong_answer_is_none(
    answer: bytes, models: SearchModels, client: httpx.AsyncClient, clock: FakeClock
) -> None:
    models.answers["/v1/rerank"] = (200, answer)
    asked = endpoint(client, models.rerank_url, clock)
    assert await HttpReranker(endpoint=asked, model="judge", within_s=5).relevance("q", TEXTS[:2]) is None
    assert asked.failures == 1


async def test_one_that_is_slow_is_none(models: SearchModels, client: httpx.AsyncClient, clock: FakeClock) -> None:
    models.silent.add("/v1/rerank")
    asked = endpoint(client, models.rerank_url, clock)
    assert await HttpReranker(endpoint=asked, model="judge", within_s=0.02).relevance("q", TEXTS) is None
