"""Asks a live server for what a calibration needs; here a server that says what the test wants."""

import json
from collections.abc import AsyncIterator, Callable

import httpx
import pytest

from loadtests.simulator.live_replica import LiveReplica, NotMeasurable, Shape

METRICS = 'vllm:cache_config_info{block_size="32",engine="0",num_gpu_blocks="1456",num_cpu_blocks="None"} 1.0\n'
MODELS = {"data": [{"id": "smollm2", "max_model_len": 4096}]}


class Ticking:
    """Each look at the clock is one second later."""

    def __init__(self) -> None:
        self._now = 0.0

    def __call__(self) -> float:
        self._now += 1.0
        return self._now


def chunk(text: str | None, tokens: int, *, details: object = None) -> str:
    usage = {"prompt_tokens": 20, "completion_tokens": tokens, "prompt_tokens_details": details}
    choices = [] if text is None else [{"delta": {"content": text}}]
    return "data: " + json.dumps({"choices": choices, "usage": usage}, ensure_ascii=False) + "\n\n"


STREAM = (
    ": keep-alive\n\n"
    + chunk("", 0)
    + chunk("a\u2028", 1)
    + chunk("b", 2)
    + chunk("", 2)
    + chunk(None, 2, details={"cached_tokens": 16})
    + "data: [DONE]\n\n"
)


def answering(stream: str | httpx.Response) -> Callable[[httpx.Request], httpx.Response]:
    async def pieces(text: str) -> AsyncIterator[bytes]:
        raw = text.encode()
        for start in range(0, len(raw), 7):
            yield raw[start : start + 7]

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/v1/models":
            return httpx.Response(200, json=MODELS)
        if request.url.path == "/metrics":
            return httpx.Response(200, text=METRICS)
        return httpx.Response(200, content=pieces(stream)) if isinstance(stream, str) else stream

    return answer


def replica_on(answer: Callable[[httpx.Request], httpx.Response], *, api_key: str | None = None) -> LiveReplica:
    client = httpx.AsyncClient(base_url="http://replica", transport=httpx.MockTransport(answer))
    return LiveReplica(client, clock=Ticking(), api_key=api_key)


async def test_the_server_says_how_large_it_is() -> None:
    assert await replica_on(answering(STREAM)).shape() == Shape("smollm2", 4096, 32, 1456)


async def test_a_server_without_cache_metrics_may_still_be_measured() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=MODELS) if request.url.path == "/v1/models" else httpx.Response(200, text="")

    assert await replica_on(answer).shape() == Shape("smollm2", 4096, None, None)


async def test_a_turn_is_stamped_where_it_brought_tokens() -> None:
    heard = await replica_on(answering(STREAM)).turn("smollm2", [], tokens=2)
    assert heard.text == "a\u2028b"
    assert heard.moments == ((2.0, 1), (3.0, 2))
    assert (heard.prompt_tokens, heard.cached_tokens) == (20, 16)


async def test_a_server_may_hide_what_it_had_cached() -> None:
    heard = await replica_on(answering(chunk("a", 1))).turn("smollm2", [], tokens=1)
    assert heard.cached_tokens is None


async def test_a_key_is_sent() -> None:
    seen: list[str | None] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("authorization"))
        return answering(STREAM)(request)

    await replica_on(answer, api_key="k").shape()
    assert seen == ["Bearer k", "Bearer k"]


@pytest.mark.parametrize(
    ("stream", "complaint"),
    [
        (httpx.Response(404), "/v1/chat/completions answers 404"),
        ('data: {"error": {"message": "gone"}}\n\ndata: [DONE]\n\n', "ended with an error"),
        ("data: {broken\n\n", "not one of chat completion chunks"),
        ('data: {"choices": [{"delta": {"content": "a"}}]}\n\n', "counts no tokens"),
    ],
)
async def test_a_stream_that_cannot_be_measured_says_why(stream: str | httpx.Response, complaint: str) -> None:
    with pytest.raises(NotMeasurable, match=complaint):
        await replica_on(answering(stream)).turn("smollm2", [], tokens=1)


async def test_a_server_that_is_not_there_says_so() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    with pytest.raises(NotMeasurable, match="/v1/models cannot be reached: ConnectError"):
        await replica_on(answer).shape()
    with pytest.raises(NotMeasurable, match="the server cannot be heard: ConnectError"):
        await replica_on(answer).turn("smollm2", [], tokens=1)


@pytest.mark.parametrize(
    ("models", "complaint"),
    [(httpx.Response(503), "answers 503"), (httpx.Response(200, json={"data": []}), "no model")],
)
async def test_a_server_without_a_model_says_so(models: httpx.Response, complaint: str) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return models if request.url.path == "/v1/models" else httpx.Response(200, text="")

    with pytest.raises(NotMeasurable, match=complaint):
        await replica_on(answer).shape()
