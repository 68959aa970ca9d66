"""The outermost layer: one log line and one count per request, a request id, and an answer for our own mistakes.

A plain ASGI layer: the framework's middleware class hides disconnects and buffers streams.
"""

import time
from dataclasses import dataclass

import structlog
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.typing import FilteringBoundLogger

from gateway.api.lost_client import ClientGone
from gateway.api.openai_errors import refusal
from gateway.api.request_facts import RequestFacts, begin
from gateway.metrics import Metrics
from gateway.problems import problem
from gateway.services import Services

UNMATCHED = "unmatched"
"""The route of a request that no route fits."""

CLIENT_GONE_STATUS = 499
"""Of a request whose client left before it was answered; nobody sees it but the log."""

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

_log: FilteringBoundLogger = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Answer:
    """What was sent so far."""

    status: int | None = None


class RequestLog:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        facts, answer, started = begin(scope), _Answer(), time.perf_counter()
        try:
            await self._serve(scope, receive, _marking(send, facts, answer), answer)
        finally:
            status = answer.status or CLIENT_GONE_STATUS
            _metrics(scope).saw_request(method=_method(scope), route=_route(scope), status=status)
            _write(scope, facts, status, time.perf_counter() - started)

    async def _serve(self, scope: Scope, receive: Receive, send: Send, answer: _Answer) -> None:
        try:
            await self._app(scope, receive, send)
        except ClientGone:
            return
        except Exception as error:
            # The one place where a mistake of ours becomes an answer; a stream that has begun can only be cut off.
            _log.exception("request failed", route=_route(scope))
            if answer.status is not None:
                raise
            await refusal(scope, problem(error))(scope, receive, send)


def _marking(send: Send, facts: RequestFacts, answer: _Answer) -> Send:
    async def marked(message: Message) -> None:
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            MutableHeaders(scope=message)["X-Request-ID"] = facts.request_id
        await send(message)

    return marked


def _write(scope: Scope, facts: RequestFacts, status: int, seconds: float) -> None:
    _log.info(
        "request",
        method=_method(scope),
        route=_route(scope),
        status=status,
        duration_ms=round(seconds * 1000, 3),
        **facts.known(),
    )


def _method(scope: Scope) -> str:
    return scope["method"] if scope["method"] in _METHODS else "OTHER"


def _route(scope: Scope) -> str:
    """The template, never the path: a path may hold anything and is as good as unbounded."""
    path = getattr(scope.get("route"), "path", None)
    return path if isinstance(path, str) else UNMATCHED


def _metrics(scope: Scope) -> Metrics:
    services: Services = scope["state"]["services"]
    return services.metrics
