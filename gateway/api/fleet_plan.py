"""The fleet's plan over HTTP, for operators: replicas over the next hours, and how many a pool has at least."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from gateway.api.access import FleetOrderer, FleetReader
from gateway.api.answers import answer
from gateway.api.body import body_of
from gateway.api.documented import ORDER, READ, takes
from gateway.api.fleet_plan_views import FleetPlanView, PoolFloorView, ScaleBody
from gateway.api.query import query_of
from gateway.api.request_services import services_of
from gateway.api.requests import NoQuery, PlanQuery

routes = APIRouter(tags=["fleet"])


@routes.get("/v1/fleet/plan", response_model=FleetPlanView, responses=READ, openapi_extra=takes(query=PlanQuery))
async def read_plan(request: Request, viewer: FleetReader) -> Response:
    query = query_of(request, PlanQuery)
    return answer(FleetPlanView.of(await services_of(request).plans.plan(viewer.tenant, hours=query.hours)))


@routes.post(
    "/v1/fleet/pools/{model:path}/scale",
    response_model=PoolFloorView,
    responses=ORDER,
    openapi_extra=takes(body=ScaleBody),
)
async def scale_pool(request: Request, viewer: FleetOrderer, model: str) -> Response:
    """Have so many replicas at least; what the calendar wants beyond them comes all the same."""
    query_of(request, NoQuery)
    body = await body_of(request, ScaleBody)
    settings, floor = await services_of(request).plans.scale(
        viewer, model, replicas=body.replicas, until=body.until_moment, reason=body.reason
    )
    return answer(PoolFloorView.of(settings, floor))


@routes.delete("/v1/fleet/pools/{model:path}/scale", response_model=PoolFloorView, responses=READ)
async def scale_pool_back(request: Request, _: FleetOrderer, model: str) -> Response:
    """Let the calendar alone decide again."""
    query_of(request, NoQuery)
    return answer(PoolFloorView.of(await services_of(request).plans.scale_back(model), None))
