"""The routes that vLLM adds in development mode: pause, sleep, aborts, and the prefix cache."""

import json
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from loadtests.simulator.answer import CompactJson
from loadtests.simulator.domain.lifecycle import Event, Phase
from loadtests.simulator.errors import bad_request
from loadtests.simulator.replica import Replica

_LEVELS = (0, 1, 2)


class DevRoutes:
    def __init__(self, replica: Replica) -> None:
        self._replica = replica

    @property
    def all(self) -> list[Route]:
        return [
            Route("/reset_prefix_cache", self._reset_prefix_cache, methods=["POST"]),
            Route("/pause", self._pause, methods=["POST"]),
            Route("/resume", self._resume, methods=["POST"]),
            Route("/is_paused", self._is_paused, methods=["GET"]),
            Route("/sleep", self._sleep, methods=["POST"]),
            Route("/wake_up", self._wake, methods=["POST"]),
            Route("/is_sleeping", self._is_sleeping, methods=["GET"]),
            Route("/abort_requests", self._abort, methods=["POST"]),
            Route("/server_info", self._server_info, methods=["GET"]),
        ]

    async def _reset_prefix_cache(self, _: Request) -> Response:
        return CompactJson({"success": self._replica.runner.reset_prefix_cache()})

    async def _pause(self, request: Request) -> Response:
        replica = self._replica
        match request.query_params.get("mode", "abort"):
            case "abort":
                replica.advance(Event.PAUSE)
                replica.runner.abort_all()
            case "wait":
                replica.advance(Event.PAUSE)
                await replica.runner.drained()
            case "keep":
                replica.advance(Event.PAUSE)
                replica.is_held = True
                replica.changed.set()
            case mode:
                raise bad_request(f"Invalid pause mode {mode!r}.")
        return CompactJson({"status": "paused"})

    async def _resume(self, _: Request) -> Response:
        self._replica.advance(Event.RESUME)
        self._replica.is_held = False
        self._replica.changed.set()
        return CompactJson({"status": "resumed"})

    async def _is_paused(self, _: Request) -> Response:
        return CompactJson({"is_paused": self._replica.phase in (Phase.PAUSED, Phase.ASLEEP)})

    async def _sleep(self, request: Request) -> Response:
        written = request.query_params.get("level", "1")
        if written not in map(str, _LEVELS):
            raise bad_request(f"Invalid sleep level {written!r}.")
        self._replica.advance(Event.SLEEP)
        self._replica.runner.sleep(int(written))
        return CompactJson({"status": "sleeping", "level": int(written)})

    async def _wake(self, request: Request) -> Response:
        if self._replica.phase is Phase.ASLEEP:
            self._replica.advance(Event.WAKE)
        # Who was resumed in its sleep takes requests, and its engine still sleeps.
        self._replica.runner.wake()
        return CompactJson({"status": "awake", "tags": request.query_params.getlist("tags") or None})

    async def _is_sleeping(self, _: Request) -> Response:
        return CompactJson({"is_sleeping": self._replica.phase is Phase.ASLEEP})

    async def _abort(self, request: Request) -> Response:
        """Only the full id of an answer finds its request; another one is counted all the same."""
        raw = await request.body()
        try:
            named = json.loads(raw or b"{}").get("request_ids") or []
        except (ValueError, AttributeError) as error:
            raise bad_request("Invalid JSON format") from error
        for name in named:
            self._replica.abort(str(name))
        return CompactJson({"status": "aborted", "aborted": len(named)}, status_code=HTTPStatus.OK)

    async def _server_info(self, _: Request) -> Response:
        profile = self._replica.profile
        return CompactJson({"vllm_config": f"simulated profile {profile.name!r}: {profile.provenance}"})
