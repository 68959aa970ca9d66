"""Stream tickets over HTTP: for a page that follows a turn by EventSource, which can send no header."""

import secrets
from http import HTTPStatus

from fastapi import APIRouter
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from gateway.api.access import TurnTaker
from gateway.api.answers import answer
from gateway.api.documented import READ
from gateway.api.ids import NO_TURN, session_id_of, turn_number_of
from gateway.api.query import query_of
from gateway.api.request_services import services_of
from gateway.api.requests import NoQuery
from gateway.api.views import View
from gateway.domain.tickets import Grant, new_ticket
from sessions.errors import TurnNotFound

routes = APIRouter(tags=["turns"])


class TicketView(View):
    ticket: str = Field(description="opens the turn's events once")
    expires_in: float = Field(description="seconds")


@routes.post(
    "/v1/sessions/{session_id}/turns/{turn}/ticket",
    status_code=HTTPStatus.CREATED,
    response_model=TicketView,
    responses=READ,
)
async def give_ticket(request: Request, viewer: TurnTaker, session_id: str, turn: str) -> Response:
    """Whether there is such a turn is seen when its events are asked for; the session has to be the caller's own."""
    query_of(request, NoQuery)
    services = services_of(request)
    session, number = session_id_of(request, session_id), turn_number_of(request, turn)
    await services.use.read_session(viewer, session)
    if number == NO_TURN:
        raise TurnNotFound("the session has no such turn")
    ticket, for_s = new_ticket(secrets.token_bytes), services.settings.access.ticket_s
    await services.access.tickets.give(Grant(viewer.tenant, viewer.account, session, number), ticket, for_s=for_s)
    return answer(TicketView(ticket=ticket, expires_in=for_s), HTTPStatus.CREATED)
