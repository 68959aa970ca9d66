"""Answers a browser that asks, before a request, whether a page of another origin may make it."""

from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.api.edge_headers import allowed_origin, edge_of

METHODS = ("DELETE", "GET", "PATCH", "POST", "PUT")
HEADERS = (
    "Authorization",
    "Content-Type",
    "Idempotency-Key",
    "Last-Event-ID",
    "traceparent",
    "X-Request-ID",
    "X-Session-ID",
)
_VARY = "Access-Control-Request-Method, Access-Control-Request-Headers"


class Preflight:
    """Whoever is not allowed gets the answer of any other request: a route knows no OPTIONS."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not _is_preflight(scope) or allowed_origin(scope, edge_of(scope)) is None:
            await self._app(scope, receive, send)
            return
        headers = {
            "Access-Control-Allow-Methods": ", ".join(METHODS),
            "Access-Control-Allow-Headers": ", ".join(HEADERS),
            "Access-Control-Max-Age": str(edge_of(scope).cors_max_age_s),
            "Vary": _VARY,
        }
        await Response(status_code=HTTPStatus.NO_CONTENT, headers=headers)(scope, receive, send)


def _is_preflight(scope: Scope) -> bool:
    return (
        scope["type"] == "http"
        and scope["method"] == "OPTIONS"
        and "access-control-request-method" in Headers(scope=scope)
    )
