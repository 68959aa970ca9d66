"""The fleet over HTTP, for operators: what is there, emptying a replica, and why a turn ran where it did."""

import re
from http import HTTPStatus

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from gateway.api.access import FleetOrderer, FleetReader
from gateway.api.answers import answer
from gateway.api.body import body_or_none_of
from gateway.api.documented import ORDER, READ, takes
from gateway.api.fleet_views import DecisionView, FleetView, ReplicaView
from gateway.api.ids import session_id_of
from gateway.api.query import query_of
from gateway.api.request_services import services_of
from gateway.api.requests import DrainBody, NoQuery
from gateway.errors import DecisionNotFound
from router.domain.fleet import ReplicaId
from sessions.domain.viewer import Viewer
from sessions.errors import SessionNotFound

routes = APIRouter(tags=["fleet"])

# As the router is asked: the session's id and the turn's number.
_TURN_ID = re.compile(r"(.{36})-([1-9][0-9]{0,8})", re.ASCII)


@routes.get("/v1/fleet", response_model=FleetView, responses=READ)
async def read_fleet(request: Request, _: FleetReader) -> Response:
    query_of(request, NoQuery)
    return answer(FleetView.of(await services_of(request).fleet.replicas()))


@routes.get("/v1/fleet/replicas/{replica_id}", response_model=ReplicaView, responses=READ)
async def read_replica(request: Request, _: FleetReader, replica_id: str) -> Response:
    query_of(request, NoQuery)
    return await _replica(request, replica_id)


@routes.post(
    "/v1/fleet/replicas/{replica_id}/drain",
    status_code=HTTPStatus.ACCEPTED,
    response_model=ReplicaView,
    responses=ORDER,
    openapi_extra=takes(body=DrainBody, needs_body=False),
)
async def drain_replica(request: Request, _: FleetOrderer, replica_id: str) -> Response:
    query_of(request, NoQuery)
    body = await body_or_none_of(request, DrainBody)
    await services_of(request).fleet.drain(ReplicaId(replica_id), within_s=body.within_s)
    return await _replica(request, replica_id, HTTPStatus.ACCEPTED)


@routes.delete("/v1/fleet/replicas/{replica_id}/drain", response_model=ReplicaView, responses=READ)
async def undo_drain(request: Request, _: FleetOrderer, replica_id: str) -> Response:
    query_of(request, NoQuery)
    await services_of(request).fleet.undo_drain(ReplicaId(replica_id))
    return await _replica(request, replica_id)


@routes.get("/v1/fleet/decisions/{turn_id}", response_model=DecisionView, responses=READ)
async def explain_turn(request: Request, viewer: FleetReader, turn_id: str) -> Response:
    query_of(request, NoQuery)
    await _demand_own(request, viewer, turn_id)
    decision = await services_of(request).fleet.decision(turn_id)
    if decision is None:
        raise DecisionNotFound
    return answer(DecisionView.of(decision))


async def _replica(request: Request, replica_id: str, status: HTTPStatus = HTTPStatus.OK) -> Response:
    state = await services_of(request).fleet.replica(ReplicaId(replica_id))
    return answer(ReplicaView.model_validate(state), status)


async def _demand_own(request: Request, viewer: Viewer, turn_id: str) -> None:
    """The fleet is everybody's, a turn is its tenant's: foreign and missing ones look the same."""
    named = _TURN_ID.fullmatch(turn_id)
    if named is None:
        raise DecisionNotFound
    try:
        await services_of(request).use.read_session(viewer, session_id_of(request, named[1]))
    except SessionNotFound as error:
        raise DecisionNotFound from error
