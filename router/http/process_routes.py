"""What this process says of itself to probes, to Prometheus and to its operators."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from router.http.answer import Answer, Plain, told
from router.http.routes import Caller, Request, Route

_METRICS = b"text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Process:
    """`unready` tells why no turn can be taken now, or None; `config` the settings in force, without secrets."""

    version: str
    instance: str
    unready: Callable[[], str | None]
    metrics: Callable[[], Awaitable[bytes]]
    config: Callable[[], Plain]


class ProcessRoutes:
    def __init__(self, process: Process) -> None:
        self._process = process

    def routes(self) -> tuple[Route, ...]:
        return (
            Route(("livez",), Caller.ANYONE, {"GET": self._live}),
            Route(("readyz",), Caller.ANYONE, {"GET": self._ready}),
            Route(("metrics",), Caller.ANYONE, {"GET": self._metrics}),
            Route(("version",), Caller.ANYONE, {"GET": self._version}),
            Route(("config",), Caller.OPERATOR, {"GET": self._config}),
        )

    async def _live(self, _request: Request) -> Answer:
        return told({"status": "alive", "instance": self._process.instance})

    async def _ready(self, _request: Request) -> Answer:
        reason = self._process.unready()
        if reason is not None:
            return told({"status": "unready", "reason": reason}, status=503)
        return told({"status": "ready"})

    async def _metrics(self, _request: Request) -> Answer:
        return Answer(200, await self._process.metrics(), content_type=_METRICS)

    async def _version(self, _request: Request) -> Answer:
        return told({"version": self._process.version})

    async def _config(self, _request: Request) -> Answer:
        return told(self._process.config())
