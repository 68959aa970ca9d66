"""Which models serve a tenant's work, over HTTP: read by staff, chosen by operators."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from gateway.api.access import ModelChooser, TierReader
from gateway.api.answers import answer
from gateway.api.body import body_of
from gateway.api.documented import ORDER, READ, takes
from gateway.api.query import query_of
from gateway.api.request_services import services_of
from gateway.api.requests import ModelTiersBody, NoQuery
from gateway.api.tier_views import ModelTiersView
from sessions.domain.viewer import Viewer

routes = APIRouter(tags=["models"])


@routes.get("/v1/model-tiers", response_model=ModelTiersView, responses=READ)
async def read_model_tiers(request: Request, viewer: TierReader) -> Response:
    query_of(request, NoQuery)
    return await _table(request, viewer)


@routes.put("/v1/model-tiers", response_model=ModelTiersView, responses=ORDER, openapi_extra=takes(body=ModelTiersBody))
async def choose_models(request: Request, viewer: ModelChooser) -> Response:
    """What is not named stays as it is."""
    query_of(request, NoQuery)
    body = await body_of(request, ModelTiersBody)
    await services_of(request).tiers.change(viewer.tenant, body.changes())
    return await _table(request, viewer)


async def _table(request: Request, viewer: Viewer) -> Response:
    return answer(await ModelTiersView.of(services_of(request).tiers, viewer.tenant))
