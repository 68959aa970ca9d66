"""One log line and one count per request, a request id, and an answer for our own mistakes.

The line holds ids, numbers and names of ours: never a path, a query, a header's value or a word that somebody wrote;
of the client's address only the network. A plain ASGI layer: the framework's middleware class hides disconnects and
buffers streams.
"""

import time
from dataclasses import dataclass

import structlog
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.typing import FilteringBoundLogger

from gateway.api.edge_headers import client_network_of
from gateway.api.event_text import MEDIA_TYPE
from gateway.api.lost_client import ClientGone
from gateway.api.openai_errors import refusal
from gateway.api.request_facts import RequestFacts, begin, facts_of
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
    """What came and went so far."""

    began: float
    status: int | None = None
    is_stream: bool = False
    is_whole: bool = False
    bytes_in: int = 0
    bytes_out: int = 0


class RequestLog:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        facts, answer = begin(scope), _Answer(began=time.perf_counter())
        try:
            await self._serve(scope, _counting(receive, answer), _marking(send, facts, answer), answer)
        finally:
            status = answer.status or CLIENT_GONE_STATUS
            _metrics(scope).saw_request(method=_method(scope), route=_route(scope), status=status)
            _write(scope, facts, answer)

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
            refused = problem(error)
            facts_of(scope).refused(refused)
            await refusal(scope, refused)(scope, receive, send)


def _counting(receive: Receive, answer: _Answer) -> Receive:
    async def counted() -> Message:
        message = await receive()
        answer.bytes_in += len(message.get("body", b""))
        return message

    return counted


def _marking(send: Send, facts: RequestFacts, answer: _Answer) -> Send:
    async def marked(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["X-Request-ID"] = facts.request_id
            answer.status = message["status"]
            answer.is_stream = headers.get("content-type", "").startswith(MEDIA_TYPE)
        await send(message)
        if message["type"] == "http.response.body":
            body = message.get("body", b"")
            answer.bytes_out += len(body)
            answer.is_whole = not message.get("more_body", False)
            if answer.is_stream and facts.ttft_ms is None and _has_text(body):
                facts.ttft_ms = _ms_since(answer.began)

    return marked


def _has_text(body: bytes) -> bool:
    """Whether a piece of a stream holds text of the tutor, be it a turn's stream or one of OpenAI's."""
    return b"event: delta\n" in body or body.startswith(b"data: {")


def _ms_since(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 3)


def _write(scope: Scope, facts: RequestFacts, answer: _Answer) -> None:
    _log.info(
        "request",
        method=_method(scope),
        route=_route(scope),
        status=answer.status or CLIENT_GONE_STATUS,
        duration_ms=_ms_since(answer.began),
        bytes_in=answer.bytes_in,
        bytes_out=answer.bytes_out,
        client=client_network_of(scope),
        **({} if answer.is_whole else {"cut": True}),
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
