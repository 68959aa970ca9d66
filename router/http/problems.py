"""What a caller is told when a request cannot be served: the one table of statuses and codes, in OpenAI's shape."""

import json
import math
from dataclasses import dataclass

from router import errors as carrying
from router.http import errors as refusals
from router.http.answer import Answer

_SERVER, _CALLER = "server_error", "invalid_request_error"


@dataclass(frozen=True, slots=True)
class Kind:
    """How one error is told. `code` is stable: callers compare it."""

    status: int
    code: str
    type: str = _CALLER


KINDS: dict[type[Exception], Kind] = {
    refusals.RequestInvalid: Kind(400, "invalid_request"),
    refusals.Unauthenticated: Kind(401, "unauthenticated", "authentication_error"),
    refusals.Forbidden: Kind(403, "forbidden", "permission_error"),
    refusals.NotFound: Kind(404, "not_found"),
    refusals.MethodNotAllowed: Kind(405, "method_not_allowed"),
    refusals.BodyTooLarge: Kind(413, "body_too_large"),
    refusals.NotJson: Kind(415, "unsupported_media_type"),
    carrying.ModelUnknown: Kind(404, "model_not_found"),
    carrying.ReplicaUnknown: Kind(404, "replica_not_found"),
    carrying.ReplicaInvalid: Kind(400, "replica_invalid"),
    carrying.ReplicaInUse: Kind(409, "replica_in_use"),
    carrying.NoReplicaAvailable: Kind(503, "no_replica_available", _SERVER),
    carrying.NoRoom: Kind(503, "no_room", _SERVER),
    carrying.EngineUnreachable: Kind(503, "engine_unreachable", _SERVER),
    carrying.EngineConnectLate: Kind(503, "engine_unreachable", _SERVER),
    carrying.EngineBusy: Kind(503, "engine_busy", _SERVER),
    carrying.EngineTimedOut: Kind(504, "engine_timed_out", _SERVER),
    carrying.EngineBroke: Kind(502, "engine_broke", _SERVER),
    carrying.PinStoreUnavailable: Kind(503, "pin_store_unavailable", _SERVER),
    carrying.BoardUnavailable: Kind(503, "board_unavailable", _SERVER),
    carrying.DecisionsUnavailable: Kind(503, "decisions_unavailable", _SERVER),
}
BROKEN = Kind(500, "internal_error", _SERVER)
RETRY_AFTER_S = 2.0
"""Told with every 503 and 504 that does not know better."""


def answer_to(error: Exception) -> Answer:
    """The engine's own refusal goes out as it came: its caller speaks the engine's API."""
    if isinstance(error, carrying.EngineRejected):
        return _rejection(error)
    kind = kind_of(error)
    return Answer(kind.status, _object(kind, _message(error), _param(error)), _headers(error, kind))


def event_of(error: Exception) -> bytes:
    """The last event of a stream that cannot go on. No [DONE] follows it, so nobody takes the reply for whole."""
    return b"data: " + _object(kind_of(error), _message(error), None) + b"\n\n"


def kind_of(error: Exception) -> Kind:
    known = (KINDS[ancestor] for ancestor in type(error).__mro__ if ancestor in KINDS)
    return next(known, BROKEN)


def _rejection(error: carrying.EngineRejected) -> Answer:
    status = error.status if 400 <= error.status < 500 else 400  # noqa: PLR2004 - the range of refusals
    own = error.body or _object(Kind(status, "engine_rejected"), "the replica refused the request", None)
    return Answer(status, own)


def _object(kind: Kind, message: str, param: str | None) -> bytes:
    told = {"error": {"message": message, "type": kind.type, "param": param, "code": kind.code}}
    return json.dumps(told, separators=(",", ":")).encode()


_AWAY: dict[type[Exception], str] = {
    carrying.PinStoreUnavailable: "the pins cannot be read or written now",
    carrying.BoardUnavailable: "the orders for the fleet cannot be read or written now",
    carrying.DecisionsUnavailable: "the decisions of other routers cannot be read now",
}


def _message(error: Exception) -> str:
    """An engine's own words may quote what people said, and name machines; so may a store's."""
    if type(error) in _AWAY:
        return _AWAY[type(error)]
    match error:
        case carrying.EngineError():
            return f"replica {error.replica} failed the request: {kind_of(error).code.replace('_', ' ')}"
        case carrying.RouterError() | refusals.RequestRefused():
            return str(error)
        case _:
            return "the router failed"


def _param(error: Exception) -> str | None:
    match error:
        case refusals.RequestRefused():
            return error.param
        case carrying.ModelUnknown():
            return "model"
        case _:
            return None


def _headers(error: Exception, kind: Kind) -> tuple[tuple[bytes, bytes], ...]:
    match error:
        case carrying.NoRoom():
            return _retry_after(error.retry_after_s), (b"x-queue-position", b"%d" % error.position)
        case carrying.NoReplicaAvailable():
            return (_retry_after(error.retry_after_s),)
        case refusals.MethodNotAllowed():
            return ((b"allow", ", ".join(error.allowed).encode()),)
        case refusals.Unauthenticated():
            return ((b"www-authenticate", b"Bearer"),)
        case _ if kind.status in {503, 504}:
            return (_retry_after(RETRY_AFTER_S),)
        case _:
            return ()


def _retry_after(seconds: float) -> tuple[bytes, bytes]:
    return b"retry-after", b"%d" % max(1, math.ceil(seconds))
