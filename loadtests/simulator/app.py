"""The application of one replica: vLLM's routes, and beside them the simulator's own."""

from collections.abc import Callable, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from loadtests.simulator.admin import AdminRoutes
from loadtests.simulator.answer import CompactJson, refusal_answer
from loadtests.simulator.domain.lifecycle import IllegalTransition
from loadtests.simulator.door import Door
from loadtests.simulator.errors import Refused, Unparsable
from loadtests.simulator.replica import Replica
from loadtests.simulator.routes_dev import DevRoutes
from loadtests.simulator.routes_openai import OpenAiRoutes
from loadtests.simulator.routes_state import StateRoutes
from loadtests.simulator.script import UnusableScript


def application(replica: Replica, *, now: Callable[[], float]) -> ASGIApp:
    """`now` is the time of day, for what vLLM stamps with it."""
    routes = [
        *OpenAiRoutes(replica).all,
        *StateRoutes(replica, created_s=now()).all,
        *(DevRoutes(replica).all if replica.options.dev_mode else ()),
        *AdminRoutes(replica).all,
    ]
    return Door(_starlette(routes), replica=replica, now=now)


def admin_application(replica: Replica) -> ASGIApp:
    """For the port that is open from the first moment on."""
    return _starlette(AdminRoutes(replica).all)


def _starlette(routes: Sequence[Route]) -> Starlette:
    for route in routes:
        # Starlette lets HEAD in wherever GET may go; vLLM's framework does not.
        if route.methods is not None and "GET" in route.methods:
            route.methods.discard("HEAD")
    return Starlette(
        routes=list(routes),
        exception_handlers={
            Refused: _refused,
            HTTPException: _unknown,
            Unparsable: _unparsable,
            UnusableScript: _unusable,
            IllegalTransition: _illegal,
        },
    )


async def _refused(_: Request, error: Exception) -> Response:
    if not isinstance(error, Refused):
        raise error
    return refusal_answer(error)


async def _unknown(_: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    return CompactJson({"detail": error.detail}, status_code=error.status_code, headers=error.headers)


async def _unparsable(_: Request, __: Exception) -> Response:
    return CompactJson({"detail": "There was an error parsing the body"}, status_code=400)


async def _unusable(_: Request, error: Exception) -> Response:
    return CompactJson({"detail": str(error)}, status_code=422)


async def _illegal(_: Request, error: Exception) -> Response:
    return CompactJson({"detail": str(error)}, status_code=409)
