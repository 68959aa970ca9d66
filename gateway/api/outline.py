"""The outline's report over HTTP: what a session's replies said of what they had to say, for staff."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from gateway.api.access import ContextReader
from gateway.api.answers import answer
from gateway.api.documented import READ
from gateway.api.ids import session_id_of
from gateway.api.outline_views import OutlineReportView
from gateway.api.query import query_of
from gateway.api.request_services import services_of
from gateway.api.requests import NoQuery

routes = APIRouter(tags=["sessions"])


@routes.get("/v1/sessions/{session_id}/outline", response_model=OutlineReportView, responses=READ)
async def read_outline(request: Request, viewer: ContextReader, session_id: str) -> Response:
    query_of(request, NoQuery)
    session = session_id_of(request, session_id)
    return answer(OutlineReportView.of(session, await services_of(request).use.read_outline(viewer, session)))
