"""An embedding model gives each text a vector, or is not believed."""

from array import array

import httpx
import pytest

from sessions.adapters.model_http.embeddings import HttpEmbedder, Prefixes
from tests.contract.sessions.model_http.conftest import endpoint
from tests.support.search_models import SearchModels, vector_of
from tests.support.session_fakes import FakeClock

TEXTS = ["about the holiday", "about the 电池"]


def packed(*numbers: float) -> bytes:
    return array("f", numbers).tobytes()


async def test_each_text_has_its_vector_in_the_order_asked(
    models: SearchModels, client: httpx.AsyncClient, clock: FakeClock
) -> None:
    embedder = HttpEmbedder(endpoint=endpoint(client, models.embeddings_url, clock), model="embed", within_s=5)
    assert await embedder.passages(TEXTS) == [packed(*vector_of(text)) for text in TEXTS]
    assert await embedder.question(TEXTS[1]) == packed(*vector_of(TEXTS[1]))
    assert embedder.model == "embed"
    assert models.bodies("/v1/embeddings")[0] == {"model": "embed", "input": TEXTS, "encoding_format": "float"}


async def test_prefixes_stand_before_the_texts(
    models: SearchModels, client: httpx.AsyncClient, clock: FakeClock
) -> None:
    embedder = HttpEmbedder(
        endpoint=endpoint(client, models.embeddings_url, clock),
        model="embed",
        within_s=5,
        prefixes=Prefixes("query: ", "passage: "),
    )
    await embedder.passages(["a"])
    await embedder.question("b")
    assert [body["input"] for body in models.bodies("/v1/embeddings")] == [["passage: a"], ["query: b"]]


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b'{"data": [], "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b"[]",
        b'{"data": []}',
        b'{"data": [{"index": 0, "embedding": [1]}]}',
        b'{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}',
        b'{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]}',
        b'{"data": [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}]}',
        b'{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": "AACAPw=="}]}',
        b'{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1e300]}]}',
    ],
)
async def test_a_wrong_answer_is_none(
    answer: bytes, models: SearchModels, client: httpx.AsyncClient, clock: FakeClock
) -> None:
    models.answers["/v1/embeddings"] = (200, answer)
    asked = endpoint(client, models.embeddings_url, clock)
    assert await HttpEmbedder(endpoint=asked, model="embed", within_s=5).passages(TEXTS) is None
    assert asked.failures == 1


async def test_a_question_waits_no_longer_than_it_may(
    models: SearchModels, client: httpx.AsyncClient, clock: FakeClock
) -> None:
    models.silent.add("/v1/embeddings")
    asked = endpoint(client, models.embeddings_url, clock)
    assert await HttpEmbedder(endpoint=asked, model="embed", within_s=0.02).question("q") is None
