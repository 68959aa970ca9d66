"""What stands between the socket and the routes: the partition, the key, and the headers of every answer."""

from collections.abc import Callable
from email.utils import formatdate
from uuid import uuid4

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from loadtests.simulator.options import Options
from loadtests.simulator.replica import Replica

_ADMIN = "/sim/"
_GUARDED = ("/v1", "/v2", "/inference")


class Door:
    """Pure ASGI: a partition holds everything back but admin calls; who brings no key is sent away."""

    def __init__(self, app: ASGIApp, *, replica: Replica, now: Callable[[], float]) -> None:
        self._app = app
        self._replica = replica
        self._now = now

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(_ADMIN):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        healed = self._replica.healed
        is_known = _is_known(self._replica.options, scope["path"], headers)
        own = self._headers(headers, is_known=is_known)

        async def send_through(message: Message) -> None:
            await healed.wait()
            if message["type"] == "http.response.start":
                message["headers"] = [*own[:2], *message.get("headers", ()), *own[2:]]
            await send(message)

        await healed.wait()
        app = self._app if is_known else JSONResponse({"error": "Unauthorized"}, status_code=401)
        await app(scope, receive, send_through)

    def _headers(self, asked: Headers, *, is_known: bool) -> list[tuple[bytes, bytes]]:
        own = [(b"date", formatdate(self._now(), usegmt=True).encode()), (b"server", b"uvicorn")]
        if is_known:
            own.append((b"vary", b"Origin"))
        if self._replica.options.enable_request_id_headers:
            name = asked.get("x-request-id") or uuid4().hex
            own.append((b"x-request-id", name.encode("latin-1", "replace")))
        return own


def _is_known(options: Options, path: str, headers: Headers) -> bool:
    if options.api_key is None or not path.startswith(_GUARDED):
        return True
    return headers.get("authorization") == f"Bearer {options.api_key}"
