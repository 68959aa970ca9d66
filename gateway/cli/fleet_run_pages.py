"""What the process that looks after the fleet says of itself: /livez for probes and /metrics for Prometheus."""

import json
import time
from collections.abc import Callable
from http import HTTPStatus

from starlette.types import Receive, Scope, Send

from router.fleet.keeping import PoolReport

STUCK_AFTER_S = 300.0
"""No round takes so long: where none came to its end, the process had better begin anew."""

_TEXT = b"text/plain; version=0.0.4; charset=utf-8"
_JSON = b"application/json"


class FleetPages:
    """An ASGI application; it is told each round."""

    def __init__(
        self, *, metrics: Callable[[], bytes], instance: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._metrics = metrics
        self._instance = instance
        self._clock = clock
        self._last = clock()
        self._leads: bool | None = None

    def told(self, report: PoolReport) -> None:
        self._last = self._clock()
        self._leads = report.leads

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        match scope["path"]:
            case "/metrics":
                await _answer(send, HTTPStatus.OK, self._metrics(), _TEXT)
            case "/livez":
                is_stuck = self._clock() - self._last > STUCK_AFTER_S
                told = {"status": "stuck" if is_stuck else "alive", "instance": self._instance, "leads": self._leads}
                status = HTTPStatus.SERVICE_UNAVAILABLE if is_stuck else HTTPStatus.OK
                await _answer(send, status, json.dumps(told).encode(), _JSON)
            case _:
                await _answer(send, HTTPStatus.NOT_FOUND, b'{"detail": "here are /livez and /metrics"}', _JSON)


async def _answer(send: Send, status: HTTPStatus, body: bytes, kind: bytes) -> None:
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
