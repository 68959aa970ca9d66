"""Turns of sessions as the load takes them from a whole gateway: signed in, each under its own idempotency key."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from urllib.request import Request, urlopen

from typing_extensions import override

from loadtests.overhead.answer import TURN_MARK, fault_of_turn, lateness_of_turn_ns, replica_of_turn
from loadtests.overhead.load import Course, Speech

_SPARE_SESSIONS = 16
"""Beside one for each client: a session has no two turns at once, and none grows so long that it is folded."""
_SAID = (
    "Good morning, and I am sorry that you had to wait. May I have the number of your order, and would you tell me "
    "what is wrong with the lamp? I will look at once whether we have another one for you."
)
_TIMEOUT_S = 20


@dataclass(frozen=True, slots=True)
class Gateway:
    """One that runs, and who may speak with it."""

    url: str
    keys: Sequence[str]
    scenario: str


class TurnSpeech(Speech):
    """Opens its sessions, which takes a few milliseconds each."""

    def __init__(self, course: Course, gateway: Gateway) -> None:
        self._chunks = course.chunks
        self._heads = [_head(gateway, number) for number in range(course.clients + _SPARE_SESSIONS)]
        self._numbers = count()
        body = json.dumps({"text": _SAID}).encode()
        self._rest = b"content-length: %d\r\n\r\n%b" % (len(body), body)

    @property
    @override
    def sessions(self) -> int:
        return len(self._heads)

    @property
    @override
    def mark(self) -> bytes:
        return TURN_MARK

    @override
    def request(self, session: int) -> bytes:
        return b"%bidempotency-key: turn-%d\r\n%b" % (self._heads[session], next(self._numbers), self._rest)

    @override
    def fault(self, answer: bytes) -> str | None:
        return fault_of_turn(answer, self._chunks)

    @override
    def replica(self, answer: bytes) -> bytes:
        return replica_of_turn(answer)

    @override
    def lateness_ns(self, data: bytes, now: int) -> Sequence[int]:
        return lateness_of_turn_ns(data, now)


def _head(gateway: Gateway, number: int) -> bytes:
    key = gateway.keys[number % len(gateway.keys)]
    return (
        f"POST /v1/sessions/{_opened(gateway, key)}/turns HTTP/1.1\r\nhost: 127.0.0.1\r\n"
        f"authorization: Bearer {key}\r\ncontent-type: application/json\r\naccept: text/event-stream\r\n"
    ).encode()


def _opened(gateway: Gateway, key: str) -> str:
    asked = json.dumps({"scenario_id": gateway.scenario}).encode()
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    request = Request(f"{gateway.url}/v1/sessions", data=asked, headers=headers, method="POST")  # noqa: S310 - loopback
    with urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310 - loopback
        return str(json.load(answer)["id"])
