"""Refusals on the paths of OpenAI's API, in the shape that its clients read: `{"error": {message, type, param, code}}`.

The codes are those of everywhere else; OpenAI has no 422, so what is told with it elsewhere is a 400 here.
"""

import json
from collections.abc import Mapping
from http import HTTPStatus

from starlette.responses import Response
from starlette.types import Scope

from gateway.api.answers import problem_answer
from gateway.domain.accept import JSON
from gateway.problems import Problem

_PATHS = frozenset(
    {"/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/models", "/v1/moderations", "/v1/responses"}
)
"""Also those of them that are not served, so that a client hears that in its own words."""
_TYPES: Mapping[HTTPStatus, str] = {
    HTTPStatus.UNAUTHORIZED: "authentication_error",
    HTTPStatus.FORBIDDEN: "permission_error",
    HTTPStatus.TOO_MANY_REQUESTS: "rate_limit_exceeded",
}


def is_openai(path: str) -> bool:
    return path in _PATHS or path.startswith(("/v1/models/", "/v1/chat/"))


def refusal(scope: Scope, problem: Problem, *, headers: dict[str, str] | None = None) -> Response:
    """The answer to a request that is refused, as its path has it."""
    if not is_openai(scope["path"]):
        return problem_answer(problem, headers=headers)
    told = {"Cache-Control": "no-store", **problem.headers(), **(headers or {})}
    return Response(json.dumps(error_object(problem), ensure_ascii=False), _status(problem), told, JSON)


def error_object(problem: Problem) -> dict[str, dict[str, object]]:
    error = {"message": problem.detail, "type": _type(problem.status), "param": _param(problem), "code": problem.code}
    return {"error": error}


def error_event(problem: Problem) -> bytes:
    """The last event of a stream that broke. No `[DONE]` follows it, so that nobody takes the reply for whole."""
    return b"data: " + json.dumps(error_object(problem), ensure_ascii=False).encode() + b"\n\n"


def _status(problem: Problem) -> HTTPStatus:
    return HTTPStatus.BAD_REQUEST if problem.status is HTTPStatus.UNPROCESSABLE_ENTITY else problem.status


def _type(status: HTTPStatus) -> str:
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return "server_error"
    return _TYPES.get(status, "invalid_request_error")


def _param(problem: Problem) -> object:
    faults = problem.members.get("errors")
    return faults[0]["field"] if isinstance(faults, list) else problem.members.get("param")
