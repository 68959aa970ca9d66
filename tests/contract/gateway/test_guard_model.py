"""A guard model over real HTTP: one that answers, and ones that do not."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence

import httpx
import pytest

from gateway.adapters.guard_model import GuardOverHttp
from gateway.domain.moderation.guard_formats import conversation
from gateway.guard_ports import Silence
from tests.support.eventually import eventually
from tests.support.guard_double import SAFE, UNSAFE, GuardDouble, guard_double
from tests.support.loopback_server import a_server_that, always

ASKED = conversation("Where is it?", "Over there.")


@pytest.fixture
async def double() -> AsyncIterator[GuardDouble]:
    async with guard_double() as running:
        yield running


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(trust_env=False, headers={"Authorization": "Bearer k-1"}) as made:
        yield made


def guard(client: httpx.AsyncClient, url: str, *, timeout_s: float = 5.0, at_once: int = 8) -> GuardOverHttp:
    return GuardOverHttp(client=client, url=url, model="guard", timeout_s=timeout_s, at_once=at_once)


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/"])
async def test_a_conversation_is_put_to_it_as_a_chat(double: GuardDouble, client: httpx.AsyncClient, path: str) -> None:
    assert await guard(client, double.url + path).answer(ASKED) == SAFE
    (asked,) = double.asked
    assert asked.head.startswith("POST /v1/chat/completions ")
    assert "authorization: bearer k-1\r\n" in asked.head.lower()
    assert asked.body == {
        "model": "guard",
        "messages": list(ASKED),
        "max_tokens": 64,
        "temperature": 0,
        "stream": False,
    }


async def test_half_a_character_is_put_to_it_too(double: GuardDouble, client: httpx.AsyncClient) -> None:
    assert await guard(client, double.url).answer(conversation("a bomb \ud83d", None)) == UNSAFE


@pytest.mark.parametrize(
    ("fault", "silence"),
    [
        ("500", Silence.BROKEN),
        ("503", Silence.BROKEN),
        ("401", Silence.BROKEN),
        ("404", Silence.BROKEN),
        ("302", Silence.BROKEN),
        ("400", Silence.REFUSED),
        ("422", Silence.REFUSED),
        ("cut", Silence.UNREACHABLE),
        ("silent", Silence.TIMED_OUT),
        ("slow", Silence.TIMED_OUT),
        ("nonsense", Silence.NONSENSE),
        ("endless", Silence.NONSENSE),
    ],
)
async def test_what_is_no_answer_is_told_as_what_it_is(
    double: GuardDouble, client: httpx.AsyncClient, fault: str, silence: Silence
) -> None:
    double.fault = fault
    slow = fault in {"silent", "slow"}
    assert await guard(client, double.url, timeout_s=0.3 if slow else 5.0).answer(ASKED) is silence
    double.fault = ""
    assert await guard(client, double.url).answer(ASKED) == SAFE, "what failed once is no burden for the next"


async def test_a_server_that_is_not_there_is_unreachable(client: httpx.AsyncClient) -> None:
    assert await guard(client, "http://127.0.0.1:1").answer(ASKED) is Silence.UNREACHABLE


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff", b"[]", b"{}", b'{"choices": []}', b'{"choices": [{"message": {}}]}', b"[" * 100_000]
)
async def test_whatever_comes_is_an_answer_or_nonsense(client: httpx.AsyncClient, body: bytes) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    async with a_server_that(always(head + body)) as served:
        assert await guard(client, served.url).answer(ASKED) is Silence.NONSENSE


async def test_so_many_questions_are_under_way_and_no_more(double: GuardDouble, client: httpx.AsyncClient) -> None:
    model = guard(client, double.url, at_once=3)
    gate = asyncio.Event()
    double.waits = lambda _: gate
    async with asyncio.TaskGroup() as tasks:
        asked = [tasks.create_task(model.answer(conversation(f"{n}", None))) for n in range(50)]
        await eventually(lambda: double.running == 3)
        gate.set()
    assert [task.result() for task in asked] == [SAFE] * 50
    assert double.most_at_once == 3


async def test_a_question_that_nobody_waits_for_is_taken_back(double: GuardDouble, client: httpx.AsyncClient) -> None:
    model, gate = guard(client, double.url, at_once=1), asyncio.Event()
    double.waits = lambda _: gate
    asking = asyncio.ensure_future(model.answer(ASKED))
    await eventually(lambda: double.running == 1)
    asking.cancel()
    await eventually(lambda: double.given_up == 1 and double.running == 0)
    gate.set()
    assert await model.answer(ASKED) == SAFE, "its place is free again"


async def test_the_texts_are_sent_as_they_are(double: GuardDouble, client: httpx.AsyncClient) -> None:
    texts: Sequence[str] = ["您好\u0000\u2028", json.dumps({"a": '"'}), "x" * 8_000]
    for text in texts:
        await guard(client, double.url).answer(conversation(text, None))
    assert double.judged == list(texts)
