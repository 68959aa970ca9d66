"""How the paths of OpenAI's API describe themselves; what stands inside their bodies OpenAI describes."""

from http import HTTPStatus
from typing import Any

from gateway.api.documented import Extra, Responses
from gateway.domain.openai_parameters import FORWARDED

_ERROR: Extra = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "param", "code"],
            "properties": {
                "message": {"type": "string"},
                "type": {"type": "string"},
                "param": {"type": ["string", "null"]},
                "code": {"type": "string"},
            },
        }
    },
}
_COMPLETION: Extra = {
    "type": "object",
    "required": ["id", "object", "created", "model", "choices", "usage"],
    "properties": {
        "id": {"type": "string"},
        "object": {"const": "chat.completion"},
        "created": {"type": "integer"},
        "model": {"type": "string"},
        "choices": {"type": "array", "minItems": 1, "items": {"type": "object"}},
        "usage": {"type": ["object", "null"]},
    },
}
_PARAMETERS: Extra = {name: {} for name in sorted(FORWARDED)}


def _refusals(*statuses: HTTPStatus) -> Responses:
    content = {"application/json": {"schema": _ERROR}}
    return {int(status): {"description": status.phrase, "content": content} for status in sorted(statuses)}


REFUSALS = _refusals(
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.NOT_FOUND,
    HTTPStatus.SERVICE_UNAVAILABLE,
)
COMPLETE: Responses = {
    **REFUSALS,
    **_refusals(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.GATEWAY_TIMEOUT,
    ),
    200: {
        "description": "the completion, or its chunks as server-sent events where `stream` is true",
        "content": {"application/json": {"schema": _COMPLETION}, "text/event-stream": {"schema": {}}},
    },
}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["model", "messages"],
    "properties": {
        "model": {"type": "string", "minLength": 1, "maxLength": 256},
        "messages": {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["role"]}},
        "stream": {"type": ["boolean", "null"]},
        "stream_options": {"type": ["object", "null"]},
        "max_tokens": {"type": ["integer", "null"], "minimum": 1},
        "max_completion_tokens": {"type": ["integer", "null"], "minimum": 1},
        "user": {"type": ["string", "null"], "minLength": 1, "maxLength": 256},
        **_PARAMETERS,
    },
}
CHAT: Extra = {
    "requestBody": {"required": True, "content": {"application/json": {"schema": _SCHEMA}}},
    "parameters": [
        {
            "name": "X-Session-ID",
            "in": "header",
            "required": False,
            "description": "requests of one name go to the replica that has their beginning in its cache",
            "schema": {"type": "string", "minLength": 1, "maxLength": 256},
        }
    ],
}

_JUDGEMENT: Extra = {
    "type": "object",
    "required": ["id", "model", "results"],
    "properties": {
        "id": {"type": "string"},
        "model": {"type": "string"},
        "results": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["flagged", "categories", "category_scores", "category_applied_input_types"],
                "properties": {
                    "flagged": {"type": "boolean"},
                    "categories": {"type": "object", "additionalProperties": {"type": "boolean"}},
                    "category_scores": {"type": "object", "additionalProperties": {"type": "number"}},
                    "category_applied_input_types": {"type": "object"},
                },
            },
        },
    },
}
JUDGED: Responses = {
    **REFUSALS,
    **_refusals(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNSUPPORTED_MEDIA_TYPE),
    200: {"description": "a judgement of each text", "content": {"application/json": {"schema": _JUDGEMENT}}},
}
MODERATION: Extra = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["input"],
                    "properties": {
                        "input": {"type": ["string", "array"]},
                        "model": {"type": "string"},
                        "user": {"type": "string"},
                    },
                }
            }
        },
    },
}
