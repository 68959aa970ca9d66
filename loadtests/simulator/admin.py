"""The simulator's own routes below /sim/: faults, script, recorded requests, state."""

from dataclasses import asdict
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from loadtests.simulator.answer import CompactJson
from loadtests.simulator.replica import Replica
from loadtests.simulator.script import fault_entry, script_of


class AdminRoutes:
    def __init__(self, replica: Replica) -> None:
        self._replica = replica

    @property
    def all(self) -> list[Route]:
        return [
            Route("/sim/state", self._state, methods=["GET"]),
            Route("/sim/faults", self._faults, methods=["GET"]),
            Route("/sim/faults", self._add_fault, methods=["POST"]),
            Route("/sim/faults", self._clear_faults, methods=["DELETE"]),
            Route("/sim/faults/{fault_id}", self._clear_fault, methods=["DELETE"]),
            Route("/sim/script", self._script, methods=["PUT", "POST"]),
            Route("/sim/script", self._forget_script, methods=["DELETE"]),
            Route("/sim/requests", self._requests, methods=["GET"]),
            Route("/sim/requests", self._forget_requests, methods=["DELETE"]),
            Route("/sim/reset", self._reset, methods=["POST"]),
        ]

    async def _state(self, _: Request) -> Response:
        replica = self._replica
        figures = replica.runner.snapshot()
        return CompactJson(
            {
                "phase": replica.phase,
                "profile": replica.profile.name,
                "provenance": replica.profile.provenance,
                "speed_up": replica.options.speed_up,
                "seed": replica.options.seed,
                "now_s": replica.now_s,
                "running": figures.running,
                "waiting": figures.waiting,
                "in_flight": replica.in_flight,
                "kv_usage": figures.kv_usage,
                "died_of": replica.runner.died_of,
                "faults": len(replica.faults.all),
            }
        )

    async def _faults(self, _: Request) -> Response:
        return CompactJson([asdict(fault) for fault in self._replica.faults.all])

    async def _add_fault(self, request: Request) -> Response:
        """`from_s` counts from now on."""
        replica = self._replica
        entry = fault_entry((await request.body()).decode("utf-8", "replace"))
        fault = replica.faults.add(entry.fault(now_s=replica.now_s))
        replica.changed.set()
        return CompactJson(asdict(fault), status_code=HTTPStatus.CREATED)

    async def _clear_faults(self, _: Request) -> Response:
        self._replica.faults.clear()
        self._replica.changed.set()
        return Response(status_code=HTTPStatus.NO_CONTENT)

    async def _clear_fault(self, request: Request) -> Response:
        wanted: str = request.path_params["fault_id"]
        if wanted not in {fault.id for fault in self._replica.faults.all}:
            raise HTTPException(HTTPStatus.NOT_FOUND, "no fault has this id")
        self._replica.faults.clear(wanted)
        self._replica.changed.set()
        return Response(status_code=HTTPStatus.NO_CONTENT)

    async def _script(self, request: Request) -> Response:
        """The replies replace those of before; the faults join those there are, their times from now on."""
        replica = self._replica
        script = script_of((await request.body()).decode("utf-8", "replace"))
        replica.rules = tuple(script.rules)
        for entry in script.faults:
            replica.faults.add(entry.fault(now_s=replica.now_s))
        replica.changed.set()
        return Response(status_code=HTTPStatus.NO_CONTENT)

    async def _forget_script(self, _: Request) -> Response:
        self._replica.rules = ()
        return Response(status_code=HTTPStatus.NO_CONTENT)

    async def _requests(self, _: Request) -> Response:
        return CompactJson([asdict(record) for record in self._replica.recorder.records])

    async def _forget_requests(self, _: Request) -> Response:
        self._replica.recorder.clear()
        return Response(status_code=HTTPStatus.NO_CONTENT)

    async def _reset(self, _: Request) -> Response:
        """Between two tests: no faults, no script, no remembered requests, an empty prefix cache."""
        replica = self._replica
        replica.faults.clear()
        replica.rules = ()
        replica.recorder.clear()
        replica.changed.set()
        return CompactJson({"cache_is_empty": replica.runner.reset_prefix_cache()})
