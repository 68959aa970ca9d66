"""For probes: does the process live, can it serve, and what has it counted."""

from http import HTTPStatus

from fastapi import APIRouter
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from starlette.requests import Request
from starlette.responses import Response

from gateway.api.answers import answer
from gateway.api.request_services import services_of
from gateway.api.views import CheckView, LivenessView, ReadinessView

routes = APIRouter(tags=["probes"])


@routes.get("/livez", response_model=LivenessView)
async def livez(request: Request) -> Response:
    """Never asks a dependency: a restart would not bring one back. By `instance` a starter knows its own process."""
    return answer(LivenessView(status="ok", instance=services_of(request).settings.instance))


@routes.get("/readyz", response_model=ReadinessView, responses={503: {"model": ReadinessView}})
async def readyz(request: Request) -> Response:
    readiness = await services_of(request).readiness()
    checks = {name: CheckView(ok=check.ok, detail=check.detail) for name, check in readiness.checks.items()}
    status = HTTPStatus.OK if readiness.ready else HTTPStatus.SERVICE_UNAVAILABLE
    return answer(ReadinessView(ready=readiness.ready, checks=checks), status)


@routes.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(request: Request) -> Response:
    return Response(await services_of(request).metrics.text(), media_type=CONTENT_TYPE_PLAIN_0_0_4)
