"""How an answer leaves: JSON of a model, or a problem."""

import json
from http import HTTPStatus

from pydantic import BaseModel
from starlette.responses import Response

from gateway.domain.accept import JSON
from gateway.problems import PROBLEM_JSON, Problem

_PRIVATE = {"Cache-Control": "no-store"}


def answer(model: BaseModel, status: HTTPStatus = HTTPStatus.OK, *, headers: dict[str, str] | None = None) -> Response:
    return Response(model.model_dump_json(), status, {**_PRIVATE, **(headers or {})}, JSON)


def nothing() -> Response:
    """What was asked for is done, and there is nothing to show."""
    return Response(status_code=HTTPStatus.NO_CONTENT, headers=_PRIVATE)


def problem_answer(problem: Problem, *, headers: dict[str, str] | None = None) -> Response:
    body = json.dumps(problem.body(), ensure_ascii=False, separators=(",", ":"))
    return Response(body, problem.status, {**_PRIVATE, **problem.headers(), **(headers or {})}, PROBLEM_JSON)
