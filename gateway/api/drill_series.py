"""Classes that repeat, over HTTP: scheduled and cancelled by staff, each of them a drill of its own."""

from collections.abc import Sequence
from http import HTTPStatus

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from gateway.api.access import DrillReader, DrillWriter
from gateway.api.answers import answer
from gateway.api.body import body_of
from gateway.api.documented import CHANGE, READ, WRITE, takes
from gateway.api.drill_bodies import DrillSeriesBody
from gateway.api.drill_views import SeriesView, StrainedDrillView
from gateway.api.ids import series_id_of
from gateway.api.query import query_of
from gateway.api.request_services import services_of
from gateway.api.requests import NoQuery
from sessions.domain.drill import Drill
from sessions.domain.series import Series
from sessions.domain.viewer import Viewer

routes = APIRouter(tags=["drills"])


@routes.post(
    "/v1/drill-series",
    status_code=HTTPStatus.CREATED,
    response_model=SeriesView,
    responses=WRITE,
    openapi_extra=takes(body=DrillSeriesBody),
)
async def create_series(request: Request, viewer: DrillWriter) -> Response:
    query_of(request, NoQuery)
    body, services = await body_of(request, DrillSeriesBody), services_of(request)
    series, drills = await services.drills.create_series(viewer, body.plan(services.clock()))
    view = await _told(request, viewer, series, drills)
    return answer(view, HTTPStatus.CREATED, headers={"Location": f"/v1/drill-series/{series.id}"})


@routes.get("/v1/drill-series/{series_id}", response_model=SeriesView, responses=READ)
async def read_series(request: Request, viewer: DrillReader, series_id: str) -> Response:
    query_of(request, NoQuery)
    series, drills = await services_of(request).drills.read_series(viewer, series_id_of(series_id))
    return answer(await _told(request, viewer, series, drills))


@routes.post("/v1/drill-series/{series_id}/cancel", response_model=SeriesView, responses=CHANGE)
async def cancel_series(request: Request, viewer: DrillWriter, series_id: str) -> Response:
    """Those that have not begun."""
    query_of(request, NoQuery)
    series, drills = await services_of(request).drills.cancel_series(viewer, series_id_of(series_id))
    return answer(await _told(request, viewer, series, drills))


async def _told(request: Request, viewer: Viewer, series: Series, drills: Sequence[Drill]) -> SeriesView:
    strains = await services_of(request).drills.strain_for(viewer, drills)
    return SeriesView.of(series, [StrainedDrillView.told(drill, strains.get(drill.id)) for drill in drills])
