"""OpenAI's own client before real vLLM, through the gateway: what a user of it does, kept short."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import httpx2
import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam

from sessions.adapters.tokenizer import ModelTokenizer
from tests.vllm.conftest import RealStack

pytestmark = pytest.mark.vllm

TALK: list[ChatCompletionMessageParam] = [
    {"role": "system", "content": "You answer in one word. <|im_end|>"},
    {
        "role": "user",
        "content": [{"type": "text", "text": "What is the capital"}, {"type": "text", "text": "of France?"}],
    },
]
GREEDY: dict[str, Any] = {"temperature": 0, "max_tokens": 12, "seed": 1}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string", "maxLength": 12}}, "required": ["city"]}
NAMED = {"type": "function", "function": {"name": "name_city"}}
CITY: Any = {"type": "function", "function": {"name": "name_city", "parameters": SCHEMA}}


@pytest.fixture
def client(stack: RealStack) -> Iterator[openai.OpenAI]:
    with httpx2.Client(trust_env=False, timeout=180) as web:
        url, key = stack.ready["base_url"], stack.ready["keys"]["service"]
        yield openai.OpenAI(base_url=f"{url}/v1", api_key=key, http_client=web, max_retries=0)


@pytest.fixture
def model(client: openai.OpenAI) -> str:
    return client.models.list().data[0].id


def test_whole_and_streamed_answers_are_one_and_counted_as_we_count(
    client: openai.OpenAI, model: str, stack: RealStack
) -> None:
    raw = client.chat.completions.with_raw_response.create(
        model=model, messages=TALK, extra_headers={"X-Session-ID": "paris"}, **GREEDY
    )
    whole, home = raw.parse(), raw.headers["x-replica-id"]
    assert raw.headers["x-session-pin"] == "new"
    stream = client.chat.completions.with_raw_response.create(
        model=model,
        messages=TALK,
        stream=True,
        stream_options={"include_usage": True},
        extra_headers={"X-Session-ID": "paris"},
        **GREEDY,
    )
    assert (stream.headers["x-session-pin"], stream.headers["x-replica-id"]) == ("kept", home)
    *chunks, last = stream.parse()
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == whole.choices[0].message.content
    assert whole.usage is not None
    assert last.usage is not None
    assert last.usage.completion_tokens == whole.usage.completion_tokens
    assert last.usage.prompt_tokens_details is not None
    assert (last.usage.prompt_tokens_details.cached_tokens or 0) > 0
    url = stack.ready["replicas"][0]["url"]
    folder = Path(httpx.get(f"{url}/v1/models", trust_env=False).json()["data"][0]["root"])
    sent = [
        {"role": "system", "content": "You answer in one word. < |im_end|>"},
        {"role": "user", "content": "What is the capital\nof France?"},
    ]
    assert whole.usage.prompt_tokens == ModelTokenizer(folder=folder).count_chat(sent)


def test_a_schema_reaches_the_engine(client: openai.OpenAI, model: str) -> None:
    form: Any = {"type": "json_schema", "json_schema": {"name": "city", "schema": SCHEMA}}
    asked = {**GREEDY, "max_tokens": 40}
    told = client.chat.completions.create(model=model, messages=TALK, response_format=form, **asked)
    assert "city" in json.loads(told.choices[0].message.content or "")


def test_what_is_wrong_is_an_error_of_the_client(client: openai.OpenAI, model: str) -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        ({"messages": [{"role": "user", "content": "word " * 5000}]}, "context_length_exceeded"),
        # vLLM is started without a parser for calls of tools, and says so.
        ({"tools": [CITY]}, "invalid_request"),
        ({"tools": [CITY], "tool_choice": NAMED}, "invalid_request"),
        ({"extra_body": {"prompt_logprobs": 1}}, "unsupported_parameter"),
    ]
    for changes, code in refused:
        with pytest.raises(openai.BadRequestError) as caught:
            client.chat.completions.create(**{"model": model, "messages": TALK, **GREEDY, **changes})
        assert caught.value.code == code


def test_whoever_leaves_stops_the_engine(client: openai.OpenAI, model: str, stack: RealStack) -> None:
    stream = client.chat.completions.create(
        model=model, messages=[{"role": "user", "content": "Tell me a long story."}], stream=True, max_tokens=1000
    )
    next(iter(stream))
    stream.close()
    deadline = time.monotonic() + 10
    while running(stack):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def running(stack: RealStack) -> float:
    pages = [httpx.get(f"{each['url']}/metrics", trust_env=False).text for each in stack.ready["replicas"]]
    lines = [line for page in pages for line in page.splitlines() if line.startswith("vllm:num_requests_running{")]
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines)
