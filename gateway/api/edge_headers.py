"""What stands around every request and answer: whose word on the client is taken, and what browsers may do with it.

A plain ASGI layer, and the outermost, so that our own mistakes and streams carry these headers like everything else.
"""

from collections.abc import Sequence

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.domain.forwarded import Hop, Origin, network_of, of_forwarded, of_x_forwarded, origin
from gateway.edge_settings import EdgeSettings
from gateway.services import Services

_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
# A page of ours sets its own; what is no page must never be shown as one, nor within one.
_UNLESS_SET = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}
EXPOSED = (
    "Location",
    "RateLimit",
    "RateLimit-Policy",
    "Retry-After",
    "X-RateLimit-Limit-Requests",
    "X-RateLimit-Limit-Tokens",
    "X-RateLimit-Remaining-Requests",
    "X-RateLimit-Remaining-Tokens",
    "X-RateLimit-Reset-Requests",
    "X-RateLimit-Reset-Tokens",
    "X-Replica-ID",
    "X-Request-ID",
    "X-Session-ID",
    "X-Session-Pin",
)
_CLIENT = "drillyard.client"


class EdgeHeaders:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        edge = edge_of(scope)
        found = _origin(scope, edge)
        scope["scheme"] = found.scheme or scope["scheme"]
        scope[_CLIENT] = None if found.address is None else network_of(found.address)
        allowed = allowed_origin(scope, edge)
        lasting = edge.hsts_s if scope["scheme"] == "https" else 0

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                _dress(MutableHeaders(scope=message), allowed, lasting, shares=bool(edge.cors_origins))
            await send(message)

        await self._app(scope, receive, dressed)


def edge_of(scope: Scope) -> EdgeSettings:
    services: Services = scope["state"]["services"]
    return services.settings.edge


def client_network_of(scope: Scope) -> str | None:
    """The client's network, once this layer has seen the request."""
    network: str | None = scope.get(_CLIENT)
    return network


def allowed_origin(scope: Scope, edge: EdgeSettings) -> str | None:
    """The page's origin, where it may call."""
    sent = Headers(scope=scope).getlist("origin")
    return sent[0] if len(sent) == 1 and sent[0] in edge.cors_origins else None


def _dress(headers: MutableHeaders, allowed: str | None, lasting: int, *, shares: bool) -> None:
    for name, value in _ALWAYS.items():
        headers[name] = value
    for name, value in _UNLESS_SET.items():
        headers.setdefault(name, value)
    if lasting:
        headers["Strict-Transport-Security"] = f"max-age={lasting}"
    if shares:
        headers.add_vary_header("Origin")
    if allowed is not None:
        headers["Access-Control-Allow-Origin"] = allowed
        headers["Access-Control-Expose-Headers"] = ", ".join(EXPOSED)


def _origin(scope: Scope, edge: EdgeSettings) -> Origin:
    peer = scope["client"][0] if scope["client"] else ""
    return origin(peer, _hops(Headers(scope=scope), edge) if edge.trusted_proxies else (), edge.trusted_proxies)


def _hops(headers: Headers, edge: EdgeSettings) -> Sequence[Hop]:
    if edge.forwarded_by == "forwarded":
        return of_forwarded(headers.getlist("forwarded"))
    return of_x_forwarded(headers.getlist("x-forwarded-for"), headers.getlist("x-forwarded-proto"))
