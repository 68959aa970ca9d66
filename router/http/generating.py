"""POST /v1/chat/completions and /v1/completions: the path that is hot.

A request's bytes go on as they came and an answer's bytes come back as the router hands them out; what is read of the
request is what decides where it goes.
"""

import secrets
from itertools import count
from typing import NamedTuple

import structlog
from structlog.typing import FilteringBoundLogger

from router.domain.asks import Asks
from router.domain.exchange import Call, CallPath
from router.domain.fleet import AffinityKey
from router.errors import RouterError
from router.http.answer import send_answer
from router.http.asgi import Client, Headers, Message, Receive, Scope, Send
from router.http.body import demand_json, read_body
from router.http.errors import RequestInvalid, RequestRefused
from router.http.lost_client import Patience, client_of, while_client_stays
from router.http.ports import Carrier, Reply
from router.http.problems import answer_to, event_of
from router.http.wish import asks_of, request_id_of, session_of, wish_of

_log: FilteringBoundLogger = structlog.get_logger(__name__)

_STREAM_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]
_PATHS = {path.value: path for path in CallPath}
_END: Message = {"type": "http.response.body"}
_TRACED = ((b"traceparent", "traceparent"), (b"tracestate", "tracestate"))


class Order(NamedTuple):
    """One request, understood."""

    call: Call
    session: AffinityKey | None
    asks: Asks


class Generating:
    """Carries calls through the router."""

    def __init__(self, *, router: Carrier, body_limit: int) -> None:
        self._router = router
        self._body_limit = body_limit
        self._started = secrets.token_hex(6)
        self._count = count(1)

    async def serve(self, scope: Scope, receive: Receive, send: Send, headers: Headers) -> None:
        """Answer, whatever happens; a lost client needs no answer."""
        request_id = request_id_of(headers) or f"{self._started}-{next(self._count):x}"
        try:
            demand_json(headers)
            body = await read_body(receive, headers, limit=self._body_limit)
            order = self._understood(_PATHS[scope["path"]], headers, body, request_id)
        except RequestRefused as error:
            return await send_answer(send, answer_to(error), request_id=request_id.encode())
        client = client_of(scope)
        return await while_client_stays(client, receive, self._carry(order, send, client))

    def _understood(self, path: CallPath, headers: Headers, body: bytes, request_id: str) -> Order:
        wish = wish_of(body)
        session = session_of(headers, wish.user)
        call = Call(
            path=path,
            body=body,
            model=wish.model or self._only_model(),
            is_streamed=wish.is_streamed,
            request_id=request_id,
            headers=_passed_on(headers, session),
        )
        return Order(call, session, asks_of(headers, wish.cohort if session else ""))

    def _only_model(self) -> str:
        """What is meant where only one model is served; where none is known yet, the router says what is missing."""
        served = self._router.fleet().models
        if len(served) > 1:
            raise RequestInvalid("model is needed, since several are served", param="model")
        return next(iter(served), "")

    async def _carry(self, order: Order, send: Send, client: Client | None) -> None:
        request_id = order.call.request_id.encode()
        try:
            carried = await self._router.carry(order.call, session=order.session, asks=order.asks)
        except RouterError as error:
            return await send_answer(send, answer_to(error), request_id=request_id)
        try:
            if order.call.is_streamed:
                return await _stream(carried, send, client, request_id)
            return await _whole(carried, send, request_id)
        finally:
            carried.close()


async def _stream(carried: Reply, send: Send, client: Client | None, request_id: bytes) -> None:
    """The status goes out here, since a replica has taken the request by now."""
    await send({"type": "http.response.start", "status": 200, "headers": _STREAM_HEADERS + _where(carried, request_id)})
    if client is not None:
        carried.short_cut(client.send_now)
    read, patience = carried.read, Patience(client)
    try:
        while data := await read():
            patience.is_sending = True
            await send({"type": "http.response.body", "body": data, "more_body": True})
            patience.is_sending = False
            patience.sent += 1
    except RouterError as error:
        _log.warning("a stream broke", request=request_id.decode(), replica=carried.replica, error=type(error).__name__)
        return await send({"type": "http.response.body", "body": event_of(error)})
    finally:
        patience.end()
    return await send(_END)


async def _whole(carried: Reply, send: Send, request_id: bytes) -> None:
    try:
        body = await carried.read()
    except RouterError as error:
        return await send_answer(send, answer_to(error), request_id=request_id)
    headers = [
        (b"content-type", carried.content_type.encode("latin-1")),
        (b"content-length", b"%d" % len(body)),
        *_where(carried, request_id),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    return await send({"type": "http.response.body", "body": body})


def _where(carried: Reply, request_id: bytes) -> list[tuple[bytes, bytes]]:
    return [
        (b"x-replica-id", carried.replica.encode()),
        (b"x-session-pin", carried.pin.encode()),
        (b"x-request-id", request_id),
    ]


def _passed_on(headers: Headers, session: AffinityKey | None) -> tuple[tuple[str, str], ...]:
    told = () if session is None or not session.isascii() else (("x-session-id", session),)
    if b"traceparent" not in headers:
        return told
    return told + tuple((name, headers[raw].decode("latin-1")) for raw, name in _TRACED if raw in headers)
