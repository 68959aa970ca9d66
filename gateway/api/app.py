"""Puts the routes together; importing it makes nothing, and what lives is made when the application starts."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from http import HTTPStatus
from typing import Any, TypedDict

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from gateway.api import (
    chat_completions,
    drill_import,
    drill_series,
    drills,
    fleet,
    fleet_plan,
    health,
    jobs,
    keys,
    knowledge,
    limits,
    models,
    moderation,
    moderation_lists,
    openai_moderations,
    outline,
    reviews,
    scenarios,
    sessions,
    tickets,
    tiers,
    turns,
)
from gateway.api.body import RequestInvalid
from gateway.api.cors import Preflight
from gateway.api.edge_headers import EdgeHeaders
from gateway.api.openai_errors import refusal
from gateway.api.openapi import Api
from gateway.api.request_facts import facts_of
from gateway.api.request_log import RequestLog
from gateway.errors import GatewayError
from gateway.problems import UNKNOWN_PATH, WRONG_METHOD, Problem, invalid, plain, problem
from gateway.services import Services
from router.errors import RouterError
from sessions.errors import SessionsError

ROUTERS: Sequence[APIRouter] = (
    scenarios.routes,
    drill_import.routes,
    drill_series.routes,
    drills.routes,
    limits.routes,
    sessions.routes,
    outline.routes,
    turns.routes,
    tickets.routes,
    keys.routes,
    jobs.routes,
    tiers.routes,
    chat_completions.routes,
    models.routes,
    moderation_lists.routes,
    moderation.routes,
    openai_moderations.routes,
    reviews.routes,
    knowledge.routes,
    fleet.routes,
    fleet_plan.routes,
    health.routes,
)

Handler = Callable[[Request, Any], Awaitable[Response]]


class State(TypedDict):
    services: Services


def build_app(services: Callable[[], AbstractAsyncContextManager[Services]]) -> FastAPI:
    """The application; `services` is entered when it starts and left when it stops."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[State]:
        async with services() as running:
            yield {"services": running}

    app = Api(
        title="Drillyard",
        version="1",
        lifespan=lifespan,
        redirect_slashes=False,
        docs_url=None,  # its page fetches scripts from elsewhere
        redoc_url=None,
        exception_handlers={
            GatewayError: _refused,
            SessionsError: _refused,
            RouterError: _refused,
            RequestInvalid: _invalid,
            HTTPException: _framework_refused,
        },
    )
    for routes in ROUTERS:
        app.include_router(routes)
    for layer in (Preflight, RequestLog, EdgeHeaders):  # the last is the outermost
        app.add_middleware(layer)
    return app


async def _refused(request: Request, error: Exception) -> Response:
    return _told(request, problem(error))


async def _invalid(request: Request, error: RequestInvalid) -> Response:
    return _told(request, invalid(error.faults))


async def _framework_refused(request: Request, error: HTTPException) -> Response:
    """The framework itself refuses for two reasons only: no route fits the path, or none of its methods."""
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        return _told(request, plain(WRONG_METHOD), headers={"Allow": _allowed(request)})
    return _told(request, plain(UNKNOWN_PATH))


def _told(request: Request, refused: Problem, *, headers: dict[str, str] | None = None) -> Response:
    facts_of(request.scope).refused(refused)
    return refusal(request.scope, refused, headers=headers)


def _allowed(request: Request) -> str:
    """Every method of the path; the framework names those of one route only."""
    path = getattr(request.scope.get("route"), "path", None)
    routes = (route for routes in ROUTERS for route in routes.routes if isinstance(route, APIRoute))
    return ", ".join(sorted({method for route in routes if route.path == path for method in route.methods or ()}))
