import json
from http import HTTPStatus

import pytest

from gateway.api.openai_errors import error_event, is_openai, refusal
from gateway.errors import (
    AccountLimitReached,
    ContextTooLong,
    FieldInvalid,
    Forbidden,
    ModelNotServed,
    ParameterUnsupported,
    ServerStopping,
    Unauthenticated,
)
from gateway.problems import UNKNOWN_PATH, plain, problem

CHAT = {"type": "http", "path": "/v1/chat/completions"}


@pytest.mark.parametrize(
    ("error", "status", "kind", "param", "code"),
    [
        (FieldInvalid("temperature", "no"), 400, "invalid_request_error", "temperature", "invalid_request"),
        (ParameterUnsupported("n"), 400, "invalid_request_error", "n", "unsupported_parameter"),
        (ContextTooLong(tokens=9, limit=8), 400, "invalid_request_error", "messages", "context_length_exceeded"),
        (Unauthenticated("no"), 401, "authentication_error", None, "unauthenticated"),
        (Forbidden("trainee", "complete chats"), 403, "permission_error", None, "forbidden"),
        (ModelNotServed("gpt"), 404, "invalid_request_error", "model", "model_not_found"),
        (AccountLimitReached("requests", retry_after_s=2), 429, "rate_limit_exceeded", None, "account_limit"),
        (ServerStopping("no"), 503, "server_error", None, "server_stopping"),
        (OSError("host db-7"), 500, "server_error", None, "internal_error"),
    ],
)
def test_a_refusal_has_openais_shape_and_our_code(
    error: Exception, status: int, kind: str, param: str | None, code: str
) -> None:
    answer = refusal(CHAT, problem(error))
    told = json.loads(bytes(answer.body))["error"]
    assert (answer.status_code, told["type"], told["param"], told["code"]) == (status, kind, param, code)
    assert answer.media_type == "application/json"
    assert told["message"]
    assert "db-7" not in told["message"]


def test_whoever_may_come_again_is_told_when() -> None:
    limited = refusal(CHAT, problem(AccountLimitReached("requests", retry_after_s=2.1)), headers={"X-More": "1"})
    assert (limited.headers["retry-after"], limited.headers["x-more"]) == ("3", "1")


@pytest.mark.parametrize(
    ("path", "is_so"),
    [
        ("/v1/chat/completions", True),
        ("/v1/models", True),
        ("/v1/models/a/b", True),
        ("/v1/embeddings", True),
        ("/v1/model-tiers", False),
        ("/v1/sessions", False),
        ("/", False),
    ],
)
def test_only_openais_paths_speak_so(path: str, is_so: bool) -> None:
    assert is_openai(path) is is_so
    answer = refusal({"type": "http", "path": path}, plain(UNKNOWN_PATH))
    assert answer.status_code == HTTPStatus.NOT_FOUND
    assert (answer.media_type == "application/problem+json") is not is_so


def test_a_stream_ends_with_an_event() -> None:
    event = error_event(problem(ServerStopping("no")))
    assert event.startswith(b"data: ")
    assert event.endswith(b"\n\n")
    assert json.loads(event.removeprefix(b"data: "))["error"]["code"] == "server_stopping"
