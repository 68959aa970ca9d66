"""Drills over HTTP: scheduled, changed and ended by staff, read by everybody of the tenant."""

from http import HTTPStatus

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from gateway.api.access import DrillReader, DrillWriter
from gateway.api.answers import answer
from gateway.api.body import body_of
from gateway.api.documented import CHANGE, READ, WRITE, takes
from gateway.api.drill_bodies import DrillsQuery
from gateway.api.drill_views import DrillView, StrainedDrillView
from gateway.api.ids import drill_id_of
from gateway.api.paging import cursor_of, page_view
from gateway.api.query import query_of
from gateway.api.request_services import services_of
from gateway.api.requests import DrillBody, NoQuery
from gateway.api.views import PageView
from sessions.domain.drill import Drill, DrillEvent
from sessions.domain.viewer import Viewer

routes = APIRouter(tags=["drills"])


@routes.post(
    "/v1/drills",
    status_code=HTTPStatus.CREATED,
    response_model=StrainedDrillView,
    responses=WRITE,
    openapi_extra=takes(body=DrillBody),
)
async def create_drill(request: Request, viewer: DrillWriter) -> Response:
    query_of(request, NoQuery)
    body = await body_of(request, DrillBody)
    drill = await services_of(request).use.create_drill(viewer, body.plan())
    view = await _told(request, viewer, drill)
    return answer(view, HTTPStatus.CREATED, headers={"Location": f"/v1/drills/{drill.id}"})


@routes.get("/v1/drills", response_model=PageView[DrillView], responses=READ, openapi_extra=takes(query=DrillsQuery))
async def list_drills(request: Request, viewer: DrillReader) -> Response:
    query, services = query_of(request, DrillsQuery), services_of(request)
    span, after = query.span(), cursor_of(query)
    if span is None:
        page = await services.use.list_drills(viewer, query.limit, after)
    else:
        page = await services.drills.list_held(viewer, *span, limit=query.limit, after=after)
    return answer(page_view(page, DrillView.of, PageView[DrillView]))


@routes.get("/v1/drills/{drill_id}", response_model=StrainedDrillView, responses=READ)
async def read_drill(request: Request, viewer: DrillReader, drill_id: str) -> Response:
    query_of(request, NoQuery)
    drill = await services_of(request).use.read_drill(viewer, drill_id_of(drill_id))
    return answer(await _told(request, viewer, drill))


@routes.put(
    "/v1/drills/{drill_id}", response_model=StrainedDrillView, responses=WRITE, openapi_extra=takes(body=DrillBody)
)
async def change_drill(request: Request, viewer: DrillWriter, drill_id: str) -> Response:
    """The whole plan anew; sessions that run keep their seats."""
    query_of(request, NoQuery)
    body, drill = await body_of(request, DrillBody), drill_id_of(drill_id)
    changed = await services_of(request).use.change_drill(viewer, drill, body.plan())
    return answer(await _told(request, viewer, changed))


@routes.post("/v1/drills/{drill_id}/cancel", response_model=DrillView, responses=CHANGE)
async def cancel_drill(request: Request, viewer: DrillWriter, drill_id: str) -> Response:
    return await _ended(request, viewer, drill_id, DrillEvent.CANCEL)


@routes.post("/v1/drills/{drill_id}/archive", response_model=DrillView, responses=CHANGE)
async def archive_drill(request: Request, viewer: DrillWriter, drill_id: str) -> Response:
    return await _ended(request, viewer, drill_id, DrillEvent.ARCHIVE)


async def _ended(request: Request, viewer: Viewer, drill_id: str, event: DrillEvent) -> Response:
    query_of(request, NoQuery)
    return answer(DrillView.of(await services_of(request).use.end_drill(viewer, drill_id_of(drill_id), event)))


async def _told(request: Request, viewer: Viewer, drill: Drill) -> StrainedDrillView:
    strains = await services_of(request).drills.strain_for(viewer, [drill])
    return StrainedDrillView.told(drill, strains.get(drill.id))
