"""Reading a request's body whole, and no more of it than may be."""

from router.http.asgi import Headers, Receive
from router.http.errors import BodyTooLarge, ClientLost, NotJson


async def read_body(receive: Receive, headers: Headers, *, limit: int) -> bytes:
    """Raises `BodyTooLarge` as soon as that is known, and `ClientLost`."""
    declared = headers.get(b"content-length", b"")
    if declared.isdigit() and int(declared) > limit:
        raise _too_large(limit)
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ClientLost
    body = message.get("body", b"")
    if message.get("more_body", False):
        body = await _rest(receive, bytearray(body), limit)
    if len(body) > limit:
        raise _too_large(limit)
    return body


def demand_json(headers: Headers) -> None:
    """Raises `NotJson` unless the body is declared to be JSON."""
    kind = headers.get(b"content-type", b"")
    if kind != b"application/json" and kind.partition(b";")[0].strip().lower() != b"application/json":
        raise NotJson("the body must be JSON, with content-type application/json")


async def _rest(receive: Receive, body: bytearray, limit: int) -> bytes:
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientLost
        body += message.get("body", b"")
        if len(body) > limit:
            raise _too_large(limit)
        if not message.get("more_body", False):
            return bytes(body)


def _too_large(limit: int) -> BodyTooLarge:
    return BodyTooLarge(f"the body has more than {limit} bytes")
