"""Drills over HTTP: scheduled, changed and ended by staff, read by everybody of the tenant."""

from http import HTTPStatus

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from gateway.api.access import DrillReader, DrillWriter
from gateway.api.answers import answer
from gateway.api.body import body_of
from gateway.api.documented import CHANGE, READ, WRITE, takes
from gateway.api.drill_views import DrillView
from gateway.api.ids import drill_id_of
from gateway.api.paging import cursor_of, page_view
from gateway.api.query import query_of
from gateway.api.request_services import services_of
from gateway.api.requests import DrillBody, NoQuery, PageQuery
from gateway.api.views import PageView
from sessions.domain.drill import DrillEvent
from sessions.domain.viewer import Viewer

routes = APIRouter(tags=["drills"])


@routes.post(
    "/v1/drills",
    status_code=HTTPStatus.CREATED,
    response_model=DrillView,
    responses=WRITE,
    openapi_extra=takes(body=DrillBody),
)
async def create_drill(request: Request, viewer: DrillWriter) -> Response:
    query_of(request, NoQuery)
    body = await body_of(request, DrillBody)
    drill = await services_of(request).use.create_drill(viewer, body.plan())
    return answer(DrillView.of(drill), HTTPStatus.CREATED, headers={"Location": f"/v1/drills/{drill.id}"})


@routes.get("/v1/drills", response_model=PageView[DrillView], responses=READ, openapi_extra=takes(query=PageQuery))
async def list_drills(request: Request, viewer: DrillReader) -> Response:
    query = query_of(request, PageQuery)
    page = await services_of(request).use.list_drills(viewer, query.limit, cursor_of(query))
    return answer(page_view(page, DrillView.of, PageView[DrillView]))


@routes.get("/v1/drills/{drill_id}", response_model=DrillView, responses=READ)
async def read_drill(request: Request, viewer: DrillReader, drill_id: str) -> Response:
    query_of(request, NoQuery)
    return answer(DrillView.of(await services_of(request).use.read_drill(viewer, drill_id_of(drill_id))))


@routes.put("/v1/drills/{drill_id}", response_model=DrillView, responses=WRITE, openapi_extra=takes(body=DrillBody))
async def change_drill(request: Request, viewer: DrillWriter, drill_id: str) -> Response:
    """The whole plan anew; sessions that run keep their seats."""
    query_of(request, NoQuery)
    body, drill = await body_of(request, DrillBody), drill_id_of(drill_id)
    return answer(DrillView.of(await services_of(request).use.change_drill(viewer, drill, body.plan())))


@routes.post("/v1/drills/{drill_id}/cancel", response_model=DrillView, responses=CHANGE)
async def cancel_drill(request: Request, viewer: DrillWriter, drill_id: str) -> Response:
    return await _ended(request, viewer, drill_id, DrillEvent.CANCEL)


@routes.post("/v1/drills/{drill_id}/archive", response_model=DrillView, responses=CHANGE)
async def archive_drill(request: Request, viewer: DrillWriter, drill_id: str) -> Response:
    return await _ended(request, viewer, drill_id, DrillEvent.ARCHIVE)


async def _ended(request: Request, viewer: Viewer, drill_id: str, event: DrillEvent) -> Response:
    query_of(request, NoQuery)
    return answer(DrillView.of(await services_of(request).use.end_drill(viewer, drill_id_of(drill_id), event)))
