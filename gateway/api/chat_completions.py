"""POST /v1/chat/completions, as any client of OpenAI's API asks it."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from gateway.api.access import caller_of
from gateway.api.body import media_type_of, parsed, raw_of
from gateway.api.chat_answer import ChatAnswer
from gateway.api.openai_documented import CHAT, COMPLETE
from gateway.api.openai_door import ChatUser
from gateway.api.query import query_of
from gateway.api.request_services import services_of
from gateway.api.requests import NoQuery
from gateway.domain.accept import JSON
from gateway.domain.openai_request import session_name
from gateway.domain.trace_parent import trace_parent
from gateway.errors import FieldInvalid, UnsupportedMediaType
from gateway.openai_chats import ChatOrder

routes = APIRouter(tags=["openai"])


@routes.post("/v1/chat/completions", response_model=None, responses=COMPLETE, openapi_extra=CHAT)
async def complete_chat(request: Request, _: ChatUser) -> Response:
    query_of(request, NoQuery)
    services = services_of(request)
    order = ChatOrder(
        caller=caller_of(request),
        session=_session(request),
        trace_parent=trace_parent(request.headers.getlist("traceparent")),
        body=await _body(request, services.settings.openai.body_limit_bytes),
    )
    return ChatAnswer(services.chats, order, heartbeat_s=services.settings.heartbeat_s)


async def _body(request: Request, limit_bytes: int) -> object:
    if media_type_of(request) != JSON:
        raise UnsupportedMediaType(f"the body must be {JSON}")
    return parsed(await raw_of(request, limit_bytes))


def _session(request: Request) -> str:
    named = request.headers.getlist("x-session-id")
    if len(named) > 1:
        raise FieldInvalid("X-Session-ID", "it is given more than once")
    return session_name("X-Session-ID", named[0]) if named else ""
