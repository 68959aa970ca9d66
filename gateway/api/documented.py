"""How routes describe themselves in OpenAPI: bodies and queries that we read ourselves, answers, and refusals."""

from http import HTTPStatus
from typing import Any

from pydantic import BaseModel

from gateway.api.query import described
from gateway.api.views import ProblemView
from gateway.problems import PROBLEM_JSON

Responses = dict[int | str, dict[str, Any]]
Extra = dict[str, Any]

IDEMPOTENCY_KEY: Extra = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "the same key with the same content asks for the same thing again, never for a second one",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
}
LAST_EVENT_ID: Extra = {
    "name": "Last-Event-ID",
    "in": "header",
    "required": False,
    "description": "the id of the last event that was read",
    "schema": {"type": "string", "pattern": "^[0-9]+-[0-9]+$"},
}
EVENTS: Extra = {
    "description": "the turn's server-sent events: accepted, delta, then one of done, cancelled, blocked, error",
    "content": {"text/event-stream": {"schema": {}}},
}


def takes(
    *,
    body: type[BaseModel] | None = None,
    query: type[BaseModel] | None = None,
    headers: tuple[Extra, ...] = (),
    needs_body: bool = True,
    files: tuple[str, ...] = (),
) -> Extra:
    """The `openapi_extra` of a route; `files` are the media types of what may be sent as it is."""
    extra: Extra = {}
    sent: Extra = {name: {"schema": {"type": "string", "format": "binary"}} for name in files}
    if body is not None:
        sent["application/json"] = {"schema": {"$ref": f"#/components/schemas/{body.__name__}"}}
    if sent:
        extra["requestBody"] = {"required": needs_body, "content": sent}
    parameters = [*(described(query) if query is not None else ()), *headers]
    if parameters:
        extra["parameters"] = parameters
    return extra


def _refusal(status: HTTPStatus) -> Extra:
    reference = {"$ref": f"#/components/schemas/{ProblemView.__name__}"}
    return {"description": status.phrase, "content": {PROBLEM_JSON: {"schema": reference}}}


def _refusals(*statuses: HTTPStatus) -> Responses:
    """What a route may refuse with; one behind a key may also be refused for the key."""
    always = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.SERVICE_UNAVAILABLE)
    return {int(status): _refusal(status) for status in sorted({*always, *statuses})}


READ = _refusals(HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY)
CHANGE = _refusals(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY)
WRITE = _refusals(
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.NOT_FOUND,
    HTTPStatus.CONFLICT,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
)
ORDER = _refusals(
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.NOT_FOUND,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
)
ASK: Responses = {**WRITE, **_refusals(HTTPStatus.TOO_MANY_REQUESTS)}
FOLLOW: Responses = {
    **_refusals(
        HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.NOT_ACCEPTABLE, HTTPStatus.UNPROCESSABLE_ENTITY
    ),
    200: EVENTS,
}
TAKE: Responses = {
    **WRITE,
    **_refusals(
        HTTPStatus.NOT_ACCEPTABLE, HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT
    ),
    200: {**EVENTS, "description": f"the finished turn, or, for a caller who accepts them, {EVENTS['description']}"},
}
