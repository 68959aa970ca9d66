"""Classes out of files, over HTTP: all of a file or nothing, and again without harm."""

import asyncio

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from gateway.api.access import DrillWriter
from gateway.api.answers import answer
from gateway.api.body import media_type_of, raw_of
from gateway.api.documented import WRITE, takes
from gateway.api.drill_bodies import ImportQuery
from gateway.api.drill_views import ImportView, shown
from gateway.api.query import query_of
from gateway.api.request_services import services_of
from gateway.errors import UnsupportedMediaType
from sessions.domain.class_csv import read_csv
from sessions.domain.class_rows import ClassFile
from sessions.use_cases.import_drills import ImportOrder

routes = APIRouter(tags=["drills"])

CSV, CALENDAR = "text/csv", "text/calendar"
MOST_BYTES = 2 * 1024 * 1024


@routes.post(
    "/v1/drills/import",
    response_model=ImportView,
    responses=WRITE,
    openapi_extra=takes(query=ImportQuery, files=(CSV, CALENDAR)),
)
async def import_drills(request: Request, viewer: DrillWriter) -> Response:
    services, query = services_of(request), query_of(request, ImportQuery)
    if media_type_of(request) not in (CSV, CALENDAR):
        raise UnsupportedMediaType(f"a file of classes is {CSV} or {CALENDAR}")
    with services.knowledge.uploads.one_more():
        order = ImportOrder(
            author=viewer,
            source=query.source,
            file=await _read(request, query),
            is_trial=query.dry_run,
            prunes=query.prune,
        )
        steps = await services.drills.import_file(order)
    strains = await services.drills.strain_for(viewer, [taken.drill for taken in shown(steps)])
    return answer(ImportView.of(steps, strains, source=query.source, trial=query.dry_run))


async def _read(request: Request, query: ImportQuery) -> ClassFile:
    services, raw = services_of(request), await raw_of(request, MOST_BYTES)
    if media_type_of(request) == CSV:
        return await asyncio.to_thread(read_csv, raw, query.defaults())
    return await services.drills.calendars.read(raw, query.defaults(), now=services.clock())
