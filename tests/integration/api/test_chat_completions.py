"""Chat completions over real HTTP, byte by byte; what OpenAI's own client makes of them is in test_openai_client.py."""

import asyncio
import json
from typing import Any

import httpx
import pytest
from structlog.testing import capture_logs

from gateway.errors import AccountLimitReached
from router.domain.exchange import Call, CallPath
from router.errors import EngineBroke, EngineRejected, EngineTimedOut, NoReplicaAvailable, NoRoom
from tests.integration.api.house import House, until
from tests.support.scripted_carrier import PIECES, PROMPT_TOKENS, REPLY, usual

PATH = "/v1/chat/completions"
BODY: dict[str, Any] = {"model": "fake", "messages": [{"role": "user", "content": "Hi"}]}
STREAMED = {**BODY, "stream": True}


async def ask(house: House, body: object = BODY, *, who: str = "service", **headers: str) -> httpx.Response:
    client: httpx.AsyncClient = getattr(house.here, who)
    return await client.post(PATH, json=body, headers=headers)


def error_of(answer: httpx.Response) -> tuple[int, str, str, str | None]:
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-request-id"]
    (error,) = answer.json().values()
    assert set(error) == {"message", "type", "param", "code"}
    return answer.status_code, error["code"], error["type"], error["param"]


async def test_a_whole_answer_has_openais_shape_and_headers(house: House) -> None:
    answer = await ask(house, **{"X-Request-ID": "mine"})
    assert answer.status_code == 200
    told = answer.json()
    assert told["choices"][0]["message"]["content"] == REPLY
    assert told["usage"]["prompt_tokens"] == PROMPT_TOKENS
    assert "prompt_token_ids" not in answer.text
    assert answer.headers["x-request-id"] == "mine"
    assert int(answer.headers["openai-processing-ms"]) >= 0
    assert (answer.headers["x-replica-id"], answer.headers["x-session-pin"]) == ("a", "new")
    assert house.carrier.carried[0].is_closed


async def test_a_stream_has_openais_events(house: House) -> None:
    answer = await ask(house, {**STREAMED, "stream_options": {"include_usage": True}})
    assert answer.headers["content-type"].startswith("text/event-stream")
    data = [line.removeprefix("data: ") for line in answer.text.splitlines() if line.startswith("data: ")]
    assert data[-1] == "[DONE]"
    chunks = [json.loads(each) for each in data[:-1]]
    assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"
    assert "".join(c["choices"][0]["delta"].get("content", "") for c in chunks if c["choices"]) == REPLY
    assert (chunks[-1]["choices"], chunks[-1]["usage"]["completion_tokens"]) == ([], len(PIECES) + 1)


@pytest.mark.parametrize(
    ("body", "code", "param"),
    [
        ([], "invalid_request", "body"),
        ({"messages": BODY["messages"]}, "invalid_request", "model"),
        ({**BODY, "messages": []}, "invalid_request", "messages"),
        ({**BODY, "temperature": "hot"}, "invalid_request", "temperature"),
        ({**BODY, "n": 2}, "unsupported_parameter", "n"),
        ({**BODY, "logprobs": True}, "unsupported_parameter", "logprobs"),
        ({**BODY, "kv_transfer_params": {}}, "unsupported_parameter", "kv_transfer_params"),
        ({**BODY, "frobnicate": 1}, "unsupported_parameter", "frobnicate"),
        ({**BODY, "messages": [{"role": "user", "content": "word " * 4096}]}, "context_length_exceeded", "messages"),
    ],
)
async def test_a_wrong_request_says_what_is_wrong(house: House, body: object, code: str, param: str) -> None:
    assert error_of(await ask(house, body)) == (400, code, "invalid_request_error", param)
    assert house.carrier.calls == []


async def test_every_refusal_has_openais_shape(house: House) -> None:
    service, json_type = house.here.service, {"Content-Type": "application/json"}
    big = json.dumps({**BODY, "user": "x" * 300_000})
    for answer, *expected in (
        (await house.nobody.post(PATH, json=BODY), 401, "unauthenticated", "authentication_error", None),
        (await ask(house, who="trainee"), 403, "forbidden", "permission_error", None),
        (await ask(house, who="operator"), 403, "forbidden", "permission_error", None),
        (await ask(house, {**BODY, "model": "gpt-5"}), 404, "model_not_found", "invalid_request_error", "model"),
        (await service.get("/v1/models/gpt-5"), 404, "model_not_found", "invalid_request_error", "model"),
        (await service.get(PATH), 405, "method_not_allowed", "invalid_request_error", None),
        (await service.post("/v1/embeddings", json={}), 404, "not_found", "invalid_request_error", None),
        (
            await service.post(PATH, content=big, headers=json_type),
            413,
            "body_too_large",
            "invalid_request_error",
            None,
        ),
        (await service.post(PATH, content=b"{}"), 415, "unsupported_media_type", "invalid_request_error", None),
        (
            await service.post(PATH, content=b"{", headers=json_type),
            400,
            "body_not_json",
            "invalid_request_error",
            None,
        ),
        (await service.get("/v1/models?x=1"), 400, "invalid_request", "invalid_request_error", "x"),
        (
            await ask(house, **{"X-Session-ID": "x" * 257}),
            400,
            "invalid_request",
            "invalid_request_error",
            "X-Session-ID",
        ),
    ):
        assert error_of(answer) == tuple(expected), answer.text
    assert house.carrier.calls == []
    assert (await service.get(PATH)).headers["allow"] == "POST"


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (AccountLimitReached("requests", retry_after_s=3.0), 429, "account_limit"),
        (NoReplicaAvailable(ready=0, known=1, retry_after_s=3.0), 503, "no_replica"),
        (NoRoom(waited_s=1, position=2, retry_after_s=3.0), 503, "no_room"),
        (EngineTimedOut("a", "silent"), 504, "engine_timed_out"),
        (EngineRejected("a", "HTTP 404", status=404), 502, "tutor_rejected"),
    ],
)
@pytest.mark.parametrize("body", [BODY, STREAMED])
async def test_before_the_first_byte_a_refusal_has_its_status(
    house: House, error: Exception, status: int, code: str, body: dict[str, Any]
) -> None:
    house.carrier.refusal = error
    answer = await ask(house, body)
    kind = "rate_limit_exceeded" if status == 429 else "server_error"
    assert error_of(answer) == (status, code, kind, None)
    if status in {429, 503}:
        assert answer.headers["retry-after"] == "3"


async def test_a_mistake_of_ours_tells_nothing(house: House) -> None:
    house.carrier.refusal = ValueError("secret")
    with capture_logs() as logs:  # writing it out with all its frames takes longer than all other tests here
        answer = await ask(house)
    assert error_of(answer) == (500, "internal_error", "server_error", None)
    assert "secret" not in answer.text
    assert [entry["event"] for entry in logs] == ["request failed", "request"]


async def test_after_the_first_byte_it_is_an_event_and_the_stream_is_not_done(house: House) -> None:
    house.carrier.scripts = [[*_streamed_script()[:3], EngineBroke("a", "your words")]]
    answer = await ask(house, STREAMED)
    assert answer.status_code == 200
    last = json.loads(answer.text.rstrip().split("\n\n")[-1].removeprefix("data: "))
    assert last["error"]["code"] == "tutor_broke"
    assert "[DONE]" not in answer.text
    assert "your words" not in answer.text


async def test_a_quiet_stream_is_kept_alive_with_what_clients_skip(house: House) -> None:
    silence = asyncio.Event()
    first, *rest = _streamed_script()
    house.carrier.scripts = [[first, silence, *rest]]
    async with house.here.service.stream("POST", PATH, json=STREAMED) as answer:
        lines = answer.aiter_lines()
        comments = 0
        async for line in lines:
            comments += line.startswith(":")
            if comments == 3:
                silence.set()
        assert comments >= 3


@pytest.mark.parametrize("body", [BODY, STREAMED])
async def test_a_client_that_goes_stops_the_engine(house: House, body: dict[str, Any]) -> None:
    house.carrier.scripts = [[*_streamed_script()[:2], asyncio.Event()] if "stream" in body else [asyncio.Event()]]
    with pytest.raises(httpx.ReadTimeout):
        await house.here.service.post(
            PATH, json=body, timeout=httpx.Timeout(5, read=0.3 if "stream" not in body else 0.02)
        )
    await until(lambda: house.carrier.carried and house.carrier.carried[0].is_closed)


async def test_a_session_stays_and_another_tenants_of_the_same_name_is_another(house: House) -> None:
    await ask(house, **{"X-Session-ID": "Ann"})
    await ask(house, {**BODY, "user": "Ann"}, who="instructor")
    await house.elsewhere.service.post(PATH, json=BODY, headers={"X-Session-ID": "Ann"})
    mine, again, theirs = house.carrier.sessions
    assert mine == again
    assert theirs not in {mine, None}
    assert "Ann" not in str(house.carrier.sessions)
    salts = [json.loads(call.body)["cache_salt"] for call in house.carrier.calls]
    assert salts[0] == salts[1] != salts[2]


async def test_two_session_headers_are_refused(house: House) -> None:
    twice = [("X-Session-ID", "a"), ("X-Session-ID", "b")]
    answer = await house.here.service.post(PATH, json=BODY, headers=twice)
    assert error_of(answer)[:2] == (400, "invalid_request")


async def test_a_shell_can_ask_too(house: House) -> None:
    key = house.here.service.headers["authorization"]
    curl = ("curl", "-sN", "--noproxy", "*", "-H", f"Authorization: {key}", "--json", json.dumps(STREAMED))
    process = await asyncio.create_subprocess_exec(*curl, house.base_url + PATH, stdout=asyncio.subprocess.PIPE)
    told, _ = await process.communicate()
    assert process.returncode == 0
    assert told.startswith(b"data: {")
    assert told.endswith(b"data: [DONE]\n\n")


async def test_models_are_listed_and_read_by_name_or_by_work(house: House) -> None:
    listed = (await house.here.service.get("/v1/models")).json()
    assert listed["object"] == "list"
    assert [(model["id"], model["object"]) for model in listed["data"]] == [("fake", "model"), ("large", "model")]
    assert (await house.here.service.get("/v1/models/large")).json()["max_model_len"] == 4096
    assert (await house.here.service.get("/v1/models/faq")).json()["root"] == "fake"


def _streamed_script() -> list[Any]:
    return list(usual(Call(CallPath.CHAT, b"", "fake", is_streamed=True, request_id="chat-1")))
