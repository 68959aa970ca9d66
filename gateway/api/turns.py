"""Turns over HTTP: taken as a stream or at once, read again, followed from any place, cancelled."""

import re
from http import HTTPStatus

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from gateway.api.access import SessionReader, TurnFollower, TurnTaker
from gateway.api.answers import answer
from gateway.api.body import RequestInvalid, body_of
from gateway.api.documented import CHANGE, FOLLOW, IDEMPOTENCY_KEY, LAST_EVENT_ID, READ, TAKE, takes
from gateway.api.ids import session_id_of, turn_number_of
from gateway.api.query import query_of
from gateway.api.request_facts import facts_of
from gateway.api.request_services import services_of
from gateway.api.requests import FollowQuery, NoQuery, PageQuery, TurnBody
from gateway.api.turn_answer import whole_turn
from gateway.api.turn_stream import TurnStream, turn_headers
from gateway.api.views import CancelView, PageView, TurnView
from gateway.domain.accept import EVENT_STREAM, JSON, preferred
from gateway.domain.cursor import read_number, written_number
from gateway.domain.idempotency import idempotency_key
from gateway.domain.trace_parent import trace_parent
from gateway.turn_reader import TurnReader
from sessions.use_cases.prepare_turn import TurnOrder

routes = APIRouter(tags=["turns"])

_EVENT_ID = re.compile(r"([1-9][0-9]{0,8})-([0-9]{1,9})", re.ASCII)


@routes.post(
    "/v1/sessions/{session_id}/turns",
    response_model=TurnView,
    responses=TAKE,
    openapi_extra=takes(body=TurnBody, headers=(IDEMPOTENCY_KEY,)),
)
async def take_turn(request: Request, viewer: TurnTaker, session_id: str) -> Response:
    wanted = preferred(_accept(request), (JSON, EVENT_STREAM))
    query_of(request, NoQuery)
    body = await body_of(request, TurnBody)
    key = idempotency_key(request.headers.getlist("idempotency-key"), body.text)
    parent = trace_parent(request.headers.getlist("traceparent"))
    order = TurnOrder(viewer, session_id_of(request, session_id), body.text, key, parent)
    # A refusal is raised here, before a status is sent.
    reader = await services_of(request).turns.take(order)
    facts_of(request.scope).turn = reader.number
    if wanted == EVENT_STREAM:
        return _stream(request, reader, after=0)
    return await whole_turn(request, viewer, order.session, reader)


@routes.get(
    "/v1/sessions/{session_id}/turns",
    response_model=PageView[TurnView],
    responses=READ,
    openapi_extra=takes(query=PageQuery),
)
async def list_turns(request: Request, viewer: SessionReader, session_id: str) -> Response:
    query = query_of(request, PageQuery)
    after = read_number(query.cursor) if query.cursor is not None else 0
    session = session_id_of(request, session_id)
    # One more than is shown tells whether there is a next page.
    found = await services_of(request).use.list_turns(viewer, session, query.limit + 1, after)
    shown = tuple(found[: query.limit])
    more = written_number(shown[-1].number) if len(found) > len(shown) else None
    return answer(
        PageView[TurnView](
            items=tuple(TurnView.of(turn, shows_findings=viewer.sees_all) for turn in shown), next_cursor=more
        )
    )


@routes.get("/v1/sessions/{session_id}/turns/{turn}", response_model=TurnView, responses=READ)
async def read_turn(request: Request, viewer: SessionReader, session_id: str, turn: str) -> Response:
    query_of(request, NoQuery)
    session, number = session_id_of(request, session_id), turn_number_of(request, turn)
    found = await services_of(request).use.read_turn(viewer, session, number)
    return answer(TurnView.of(found, shows_findings=viewer.sees_all))


@routes.get(
    "/v1/sessions/{session_id}/turns/{turn}/events",
    status_code=HTTPStatus.OK,
    response_class=TurnStream,
    responses=FOLLOW,
    openapi_extra=takes(query=FollowQuery, headers=(LAST_EVENT_ID,)),
)
async def follow_turn(request: Request, viewer: TurnFollower, session_id: str, turn: str) -> Response:
    preferred(_accept(request), (EVENT_STREAM,))
    query = query_of(request, FollowQuery)
    session, number = session_id_of(request, session_id), turn_number_of(request, turn)
    after = _last_place(request.headers.get("last-event-id") or query.last_event_id, number)
    reader = await services_of(request).turns.read(viewer, session, number, was_read=after > 0)
    return _stream(request, reader, after=after)


@routes.post(
    "/v1/sessions/{session_id}/turns/{turn}/cancel",
    status_code=HTTPStatus.ACCEPTED,
    response_model=CancelView,
    responses=CHANGE,
)
async def cancel_turn(request: Request, viewer: TurnTaker, session_id: str, turn: str) -> Response:
    query_of(request, NoQuery)
    session, number = session_id_of(request, session_id), turn_number_of(request, turn)
    await services_of(request).turns.cancel(viewer, session, number)
    return answer(CancelView(session_id=session, turn=number), HTTPStatus.ACCEPTED)


def _stream(request: Request, reader: TurnReader, *, after: int) -> TurnStream:
    heartbeat_s = services_of(request).settings.heartbeat_s
    return TurnStream(reader, after=after, heartbeat_s=heartbeat_s, headers=turn_headers(reader))


def _accept(request: Request) -> str | None:
    """All Accept headers as the one list they are."""
    headers = request.headers.getlist("accept")
    return ", ".join(headers) if headers else None


def _last_place(written: str, turn: int) -> int:
    """How far the caller has read; an empty Last-Event-ID means that it has read nothing."""
    if not written:
        return 0
    match = _EVENT_ID.fullmatch(written)
    if match is None or int(match[1]) != turn:
        raise RequestInvalid([("Last-Event-ID", "this is no event of this turn")])
    return int(match[2])
