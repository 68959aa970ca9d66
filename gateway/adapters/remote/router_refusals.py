"""What a router that runs alone tells of a call, or refuses it with, in the words of a router in this process."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus

from gateway.ports import LineReply
from router.domain.fleet import ReplicaId
from router.domain.pin import PinDecision
from router.errors import (
    EngineBroke,
    EngineBusy,
    EngineError,
    EngineRejected,
    EngineTimedOut,
    EngineUnreachable,
    ModelUnknown,
    NoReplicaAvailable,
    NoRoom,
    RouterError,
)

ROUTER = ReplicaId("router")
"""Stands where errors name a replica: which one it was, the router has not told."""

_DEFAULT_RETRY_S = 2.0


@dataclass(frozen=True, slots=True)
class Refusal:
    error: RouterError
    is_final: bool
    """Whether a router has said so; what a balancer says in its place may be tried again."""


@dataclass(frozen=True, slots=True)
class _Told:
    """What was said, beside its code."""

    model: str
    retry_after_s: float
    position: int


# One that asks for a key is no fault of the turn: with the right one in the settings it will be taken.
_ERRORS: Mapping[str, Callable[[_Told], RouterError]] = {
    "no_replica_available": lambda told: NoReplicaAvailable(ready=0, known=0, retry_after_s=told.retry_after_s),
    "no_room": lambda told: NoRoom(waited_s=0.0, position=told.position, retry_after_s=told.retry_after_s),
    "model_not_found": lambda told: ModelUnknown(told.model, served=()),
    "engine_unreachable": lambda _: EngineUnreachable(ROUTER, "the router reached no replica"),
    "engine_busy": lambda _: EngineBusy(ROUTER, "the replicas are busy"),
    "engine_timed_out": lambda _: EngineTimedOut(ROUTER, "the replicas stayed silent"),
    "engine_broke": lambda _: EngineBroke(ROUTER, "the replicas broke off"),
    "unauthenticated": lambda _: EngineUnreachable(ROUTER, "the router asks for another key; see router_key"),
    "forbidden": lambda _: EngineUnreachable(ROUTER, "the router asks for another key; see router_key"),
}


async def refusal(reply: LineReply, *, model: str) -> Refusal:
    """What an answer other than 200 means; the answer is read and closed."""
    try:
        body = await reply.body()
    except EngineError as broken:
        return Refusal(broken, is_final=False)
    known = _ERRORS.get(code_of(body))
    if known is not None:
        return Refusal(known(_told(reply, model)), is_final=True)
    if HTTPStatus.BAD_REQUEST <= reply.status < HTTPStatus.INTERNAL_SERVER_ERROR:
        detail = f"HTTP {reply.status}"
        return Refusal(EngineRejected(ROUTER, detail, status=reply.status, body=body), is_final=True)
    return Refusal(EngineUnreachable(ROUTER, f"HTTP {reply.status}"), is_final=False)


def pin_of(reply: LineReply) -> PinDecision:
    """How the session came to its replica, as far as an answer tells it."""
    pin = reply.header("x-session-pin")
    return PinDecision(pin) if pin in set(PinDecision) else PinDecision.NONE


def code_of(body: bytes) -> str:
    """The stable code of an error object; empty where there is none."""
    try:
        told: object = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    error = told.get("error") if isinstance(told, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, str) else ""


def _told(reply: LineReply, model: str) -> _Told:
    retry_after_s = _number(reply.header("retry-after"), default=_DEFAULT_RETRY_S)
    return _Told(model, retry_after_s, int(_number(reply.header("x-queue-position"), default=0)))


def _number(text: str, *, default: float) -> float:
    return float(text) if text.isascii() and text.isdecimal() and len(text) <= 6 else default  # noqa: PLR2004  a day
