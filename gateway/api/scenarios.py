"""Scenarios over HTTP: written by instructors, read by everybody of the tenant."""

from http import HTTPStatus

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from gateway.api.access import ScenarioReader, ScenarioWriter
from gateway.api.answers import answer
from gateway.api.body import body_of
from gateway.api.documented import READ, WRITE, takes
from gateway.api.ids import scenario_id_of
from gateway.api.paging import cursor_of, page_view
from gateway.api.query import query_of
from gateway.api.request_services import services_of
from gateway.api.requests import NoQuery, PageQuery, ScenarioBody, VersionQuery
from gateway.api.views import PageView, ScenarioView
from sessions.domain.scenario import Scenario

routes = APIRouter(tags=["scenarios"])


@routes.post(
    "/v1/scenarios",
    status_code=HTTPStatus.CREATED,
    response_model=ScenarioView,
    responses=WRITE,
    openapi_extra=takes(body=ScenarioBody),
)
async def create_scenario(request: Request, viewer: ScenarioWriter) -> Response:
    query_of(request, NoQuery)
    body = await body_of(request, ScenarioBody)
    return _created(await services_of(request).use.create_scenario(viewer, body.content()))


@routes.post(
    "/v1/scenarios/{scenario_id}/versions",
    status_code=HTTPStatus.CREATED,
    response_model=ScenarioView,
    responses=WRITE,
    openapi_extra=takes(body=ScenarioBody),
)
async def revise_scenario(request: Request, viewer: ScenarioWriter, scenario_id: str) -> Response:
    query_of(request, NoQuery)
    body = await body_of(request, ScenarioBody)
    scenario = scenario_id_of(scenario_id)
    return _created(await services_of(request).use.revise_scenario(viewer, scenario, body.content()))


@routes.get(
    "/v1/scenarios/{scenario_id}",
    response_model=ScenarioView,
    responses=READ,
    openapi_extra=takes(query=VersionQuery),
)
async def read_scenario(request: Request, viewer: ScenarioReader, scenario_id: str) -> Response:
    query = query_of(request, VersionQuery)
    scenario = scenario_id_of(scenario_id)
    found = await services_of(request).use.read_scenario(viewer, scenario, query.version)
    return answer(ScenarioView.of(found))


@routes.get(
    "/v1/scenarios",
    response_model=PageView[ScenarioView],
    responses=READ,
    openapi_extra=takes(query=PageQuery),
)
async def list_scenarios(request: Request, viewer: ScenarioReader) -> Response:
    query = query_of(request, PageQuery)
    page = await services_of(request).use.list_scenarios(viewer, query.limit, cursor_of(query))
    return answer(page_view(page, ScenarioView.of, PageView[ScenarioView]))


def _created(scenario: Scenario) -> Response:
    where = f"/v1/scenarios/{scenario.id}?version={scenario.version}"
    return answer(ScenarioView.of(scenario), HTTPStatus.CREATED, headers={"Location": where})
