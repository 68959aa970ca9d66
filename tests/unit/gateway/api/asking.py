"""Asks a small application behind the layers of the edge."""

from types import SimpleNamespace

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.api.cors import Preflight
from gateway.api.edge_headers import EdgeHeaders
from gateway.edge_settings import EdgeSettings

ORIGIN = "https://drills.example"


def edge(**values: object) -> EdgeSettings:
    return EdgeSettings.model_validate(values)


async def plain(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse("hello")(scope, receive, send)


async def asked(
    settings: EdgeSettings,
    *headers: tuple[str, str],
    method: str = "GET",
    peer: tuple[str, int] | None = ("203.0.113.7", 9),
    app: ASGIApp = plain,
) -> tuple[int, dict[str, str], Scope]:
    """The answer's status and headers, and what became of the request."""
    scope: Scope = {
        "type": "http",
        "method": method,
        "scheme": "http",
        "path": "/",
        "client": peer,
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers],
        "state": {"services": SimpleNamespace(settings=SimpleNamespace(edge=settings))},
    }
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await EdgeHeaders(Preflight(app))(scope, receive, send)
    found: dict[str, str] = {}
    for name, value in sent[0]["headers"]:
        assert name.decode() not in found, "a header is sent twice"
        found[name.decode()] = value.decode()
    return sent[0]["status"], found, scope
