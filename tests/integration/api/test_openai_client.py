"""OpenAI's own client before the API, as its users know it: answers, streams, errors, and tries that wait."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import httpx2
import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam

from gateway.limit_settings import LimitSettings
from router.domain.exchange import Call, CallPath
from router.errors import EngineBroke
from tests.integration.api.house import House, house, until
from tests.support.scripted_carrier import PIECES, PROMPT_TOKENS, REPLY, generation, usual
from tests.support.vllm_wire import DONE

HI: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Hi"}]
CALL = Call(CallPath.CHAT, b"", "fake", is_streamed=True, request_id="chat-1")
PRICE: ChatCompletionToolParam = {
    "type": "function",
    "function": {"name": "price", "parameters": {"type": "object", "properties": {"of": {"type": "string"}}}},
}


@asynccontextmanager
async def client_of(house: House, *, key: str | None = None, retries: int = 0) -> AsyncIterator[openai.AsyncOpenAI]:
    # Nothing is encrypted here, and loading certificates would take longer than the test.
    web = httpx2.AsyncClient(trust_env=False, verify=False)
    url = f"{house.base_url}/v1"
    async with openai.AsyncOpenAI(
        base_url=url, api_key=key or key_of(house), max_retries=retries, http_client=web
    ) as one:
        yield one


def key_of(house: House, role: str = "service") -> str:
    client: httpx.AsyncClient = getattr(house.here, role)
    return client.headers["authorization"].removeprefix("Bearer ")


@pytest.fixture
async def client(house: House) -> AsyncIterator[openai.AsyncOpenAI]:
    async with client_of(house) as opened:
        yield opened


async def test_a_whole_answer_and_its_headers(client: openai.AsyncOpenAI) -> None:
    raw = await client.chat.completions.with_raw_response.create(model="fake", messages=HI)
    told = raw.parse()
    assert told.choices[0].message.content == REPLY
    assert told.choices[0].finish_reason == "stop"
    assert told.usage is not None
    assert told.usage.total_tokens == PROMPT_TOKENS + len(PIECES) + 1
    assert raw.headers["x-ratelimit-remaining-requests"] == "119"
    assert raw.headers["x-ratelimit-limit-requests"]
    assert told._request_id == raw.headers["x-request-id"]


async def test_a_stream_in_pieces_with_its_usage(client: openai.AsyncOpenAI) -> None:
    stream = await client.chat.completions.create(
        model="fake", messages=HI, stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]
    assert chunks[0].choices[0].delta.role == "assistant"
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == REPLY
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.prompt_tokens == PROMPT_TOKENS


async def test_the_client_that_waits_in_a_thread(house: House) -> None:
    def ask() -> tuple[str, str, list[str]]:
        with (
            httpx2.Client(trust_env=False, verify=False) as web,
            openai.OpenAI(base_url=f"{house.base_url}/v1", api_key=key_of(house), http_client=web) as client,
        ):
            whole = client.chat.completions.create(model="fake", messages=HI).choices[0].message.content
            stream = client.chat.completions.create(model="fake", messages=HI, stream=True)
            return (
                whole or "",
                "".join(c.choices[0].delta.content or "" for c in stream),
                [m.id for m in client.models.list()],
            )

    assert await asyncio.to_thread(ask) == (REPLY, REPLY, ["fake", "large"])


async def test_heartbeats_are_skipped(house: House, client: openai.AsyncOpenAI) -> None:
    silence = asyncio.Event()
    first, *rest = usual(CALL)
    house.carrier.scripts = [[first, silence, *rest]]
    asyncio.get_running_loop().call_later(0.2, silence.set)
    stream = await client.chat.completions.create(model="fake", messages=HI, stream=True)
    assert "".join([chunk.choices[0].delta.content or "" async for chunk in stream]) == REPLY


@pytest.mark.parametrize(
    ("changes", "error", "code"),
    [
        ({"temperature": 9}, openai.BadRequestError, "invalid_request"),
        ({"n": 2}, openai.BadRequestError, "unsupported_parameter"),
        ({"model": "gpt-5"}, openai.NotFoundError, "model_not_found"),
        (
            {"messages": [{"role": "user", "content": "word " * 5000}]},
            openai.BadRequestError,
            "context_length_exceeded",
        ),
        ({"extra_body": {"guided_json": {}}}, openai.BadRequestError, "unsupported_parameter"),
    ],
)
async def test_a_refusal_is_the_clients_own_error(
    client: openai.AsyncOpenAI, changes: dict[str, Any], error: type[openai.APIStatusError], code: str
) -> None:
    with pytest.raises(error) as caught:
        await client.chat.completions.create(**{"model": "fake", "messages": HI, **changes})
    assert (caught.value.code, caught.value.type) == (code, "invalid_request_error")
    assert caught.value.param
    assert caught.value.request_id


async def test_keys_and_roles_have_errors_of_their_own(house: House) -> None:
    async with client_of(house, key="dy_no_body") as nobody:
        with pytest.raises(openai.AuthenticationError) as unknown:
            await nobody.chat.completions.create(model="fake", messages=HI)
    assert unknown.value.code == "unauthenticated"
    async with client_of(house, key=key_of(house, "trainee")) as trainee:
        with pytest.raises(openai.PermissionDeniedError) as forbidden:
            await trainee.models.list()
    assert forbidden.value.code == "forbidden"


async def test_a_stream_that_breaks_is_an_error_and_no_end(house: House, client: openai.AsyncOpenAI) -> None:
    house.carrier.scripts = [[*usual(CALL)[:3], EngineBroke("a", "cut off")]]
    stream = await client.chat.completions.create(model="fake", messages=HI, stream=True)
    heard: list[str | None] = []

    async def listen() -> None:
        async for chunk in stream:
            heard.append(chunk.choices[0].delta.content)

    with pytest.raises(openai.APIError) as caught:
        await listen()
    assert heard == ["", *PIECES[:2]]
    assert caught.value.code == "tutor_broke"


async def test_calls_of_tools_and_schemas_pass_both_ways(house: House, client: openai.AsyncOpenAI) -> None:
    call = {"id": "call-1", "type": "function", "function": {"name": "price", "arguments": '{"of":"a pump"}'}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    told = generation(CALL)
    head = {"id": told.id, "object": "chat.completion", "created": 1, "model": "fake"}
    house.carrier.scripts = [[json.dumps({**head, "choices": [choice], "usage": told.usage()}).encode()]]
    answer = await client.chat.completions.create(model="fake", messages=HI, tools=[PRICE], tool_choice="auto")
    (asked,) = answer.choices[0].message.tool_calls or []
    assert asked.type == "function"
    assert (asked.function.name, json.loads(asked.function.arguments)) == ("price", {"of": "a pump"})
    back: list[ChatCompletionMessageParam] = [
        *HI,
        answer.choices[0].message.model_dump(),  # type: ignore[list-item]  # as everybody sends it back
        {"role": "tool", "tool_call_id": asked.id, "content": "48 yuan"},
    ]
    schema: Any = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}
    await client.chat.completions.create(model="fake", messages=back, tools=[PRICE], response_format=schema)
    sent = house.carrier.body
    assert (sent["tools"], sent["response_format"]) == ([PRICE], schema)
    assert [each["role"] for each in sent["messages"]] == ["user", "assistant", "tool"]
    assert sent["messages"][1]["tool_calls"] == [call]


async def test_streamed_calls_of_tools_pass_too(house: House, client: openai.AsyncOpenAI) -> None:
    told = generation(CALL)
    head = {"index": 0, "id": "call-1", "type": "function", "function": {"name": "price", "arguments": ""}}
    rest = {"index": 0, "function": {"arguments": "{}"}}
    steps = [told.chunk(choices=[{"index": 0, "delta": {"tool_calls": [each]}}]) for each in (head, rest)]
    end = told.chunk(choices=[{"index": 0, "delta": {}, "finish_reason": "tool_calls"}])
    house.carrier.scripts = [[told.role(), *steps, end + told.chunk(choices=[], usage=told.usage()) + DONE]]
    stream = await client.chat.completions.create(model="fake", messages=HI, tools=[PRICE], stream=True)
    calls = [c.function async for chunk in stream for c in chunk.choices[0].delta.tool_calls or []]
    assert [call.arguments for call in calls if call] == ["", "{}"]


async def test_whoever_is_over_a_limit_waits_as_long_as_is_told_and_gets_in() -> None:
    async with house(limits=LimitSettings(requests_per_minute=60, request_burst=1)) as limited:
        async with client_of(limited) as impatient:
            await impatient.chat.completions.create(model="fake", messages=HI)
            with pytest.raises(openai.RateLimitError) as caught:
                await impatient.chat.completions.create(model="fake", messages=HI)
        assert (caught.value.code, caught.value.type) == ("account_limit", "rate_limit_exceeded")
        assert int(caught.value.response.headers["retry-after"]) == 1
        assert caught.value.response.headers["x-ratelimit-remaining-requests"] == "0"
        begun = time.monotonic()
        async with client_of(limited, retries=1) as patient:
            await patient.chat.completions.create(model="fake", messages=HI)
        assert time.monotonic() - begun > 0.5
        assert len(limited.carrier.calls) == 2


async def test_tokens_that_were_not_used_are_given_back() -> None:
    """Each reply may have 2,048 tokens, so that two of them would not fit unless what was not said came back."""
    limits = LimitSettings(input_tokens_per_minute=1000, output_tokens_per_minute=3000)
    async with house(limits=limits) as limited, client_of(limited) as client:
        for streamed in (False, True, False):
            answer = await client.chat.completions.create(model="fake", messages=HI, stream=streamed)
            if isinstance(answer, openai.AsyncStream):
                await answer.close()
                await until(lambda: all(carried.is_closed for carried in limited.carrier.carried))
        with pytest.raises(openai.RateLimitError) as caught:
            await client.chat.completions.create(model="fake", messages=[{"role": "user", "content": "word " * 1200}])
        assert "input tokens" in caught.value.message
