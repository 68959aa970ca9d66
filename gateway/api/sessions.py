"""Sessions over HTTP: trainees start the own ones, change their scene and close them; staff look."""

from http import HTTPStatus
from uuid import UUID

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from gateway.api.access import ContextReader, SceneChanger, SessionCloser, SessionReader, SessionStarter
from gateway.api.answers import answer
from gateway.api.body import body_of
from gateway.api.documented import ASK, CHANGE, IDEMPOTENCY_KEY, READ, WRITE, takes
from gateway.api.ids import drill_id_of, scenario_id_of, session_id_of, uuid_of
from gateway.api.paging import cursor_of, page_view
from gateway.api.query import query_of
from gateway.api.request_services import services_of
from gateway.api.requests import NoQuery, SceneChangeBody, SessionBody, SessionsQuery
from gateway.api.views import ContextView, PageView, SessionView
from gateway.domain.idempotency import idempotency_key
from gateway.domain.limit_headers import limit_headers
from sessions.domain.drill import DrillId
from sessions.domain.page import Page
from sessions.domain.session import Session, SessionFilter, State
from sessions.domain.viewer import AccountId
from sessions.use_cases.start_session import SessionOrder

routes = APIRouter(tags=["sessions"])

_NOTHING = UUID(int=0)


@routes.post(
    "/v1/sessions",
    status_code=HTTPStatus.CREATED,
    response_model=SessionView,
    responses=ASK,
    openapi_extra=takes(body=SessionBody, headers=(IDEMPOTENCY_KEY,)),
)
async def start_session(request: Request, viewer: SessionStarter) -> Response:
    query_of(request, NoQuery)
    body = await body_of(request, SessionBody)
    metadata = body.metadata or {}
    key = idempotency_key(request.headers.getlist("idempotency-key"), body.scenario_id.lower(), body.drill_id, metadata)
    drill = None if body.drill_id is None else drill_id_of(body.drill_id)
    order = SessionOrder(viewer, scenario_id_of(body.scenario_id), metadata, key, drill)
    admitted = await services_of(request).start_session(order)
    session = admitted.session
    headers = {"Location": f"/v1/sessions/{session.id}", **limit_headers(admitted.standing)}
    return answer(SessionView.of(session), HTTPStatus.CREATED, headers=headers)


@routes.get(
    "/v1/sessions",
    response_model=PageView[SessionView],
    responses=READ,
    openapi_extra=takes(query=SessionsQuery),
)
async def list_sessions(request: Request, viewer: SessionReader) -> Response:
    query = query_of(request, SessionsQuery)
    after = cursor_of(query)
    which = _filter(query)
    page: Page[Session] = Page(())
    if which is not None:
        page = await services_of(request).use.list_sessions(viewer, which, query.limit, after)
    return answer(page_view(page, SessionView.of, PageView[SessionView]))


@routes.get("/v1/sessions/{session_id}", response_model=SessionView, responses=READ)
async def read_session(request: Request, viewer: SessionReader, session_id: str) -> Response:
    query_of(request, NoQuery)
    session = session_id_of(request, session_id)
    return answer(SessionView.of(await services_of(request).use.read_session(viewer, session)))


@routes.post(
    "/v1/sessions/{session_id}/scene",
    response_model=SessionView,
    responses=WRITE,
    openapi_extra=takes(body=SceneChangeBody),
)
async def change_scene(request: Request, viewer: SceneChanger, session_id: str) -> Response:
    query_of(request, NoQuery)
    session, body = session_id_of(request, session_id), await body_of(request, SceneChangeBody)
    return answer(SessionView.of(await services_of(request).use.change_scene(viewer, session, body.scene)))


@routes.post("/v1/sessions/{session_id}/close", response_model=SessionView, responses=CHANGE)
async def close_session(request: Request, viewer: SessionCloser, session_id: str) -> Response:
    query_of(request, NoQuery)
    session = session_id_of(request, session_id)
    return answer(SessionView.of(await services_of(request).use.close_session(viewer, session)))


@routes.get("/v1/sessions/{session_id}/context", response_model=ContextView, responses=READ)
async def explain_context(request: Request, viewer: ContextReader, session_id: str) -> Response:
    query_of(request, NoQuery)
    session = session_id_of(request, session_id)
    return answer(ContextView.of(await services_of(request).use.explain_context(viewer, session)))


def _filter(query: SessionsQuery) -> SessionFilter | None:
    """None when nothing can fit: what could not be an id is nobody's and no drill's."""
    trainee, drill = _asked(query.trainee_id), _asked(query.drill_id)
    if _NOTHING in (trainee, drill):
        return None
    state = State(query.state) if query.state is not None else None
    return SessionFilter(
        trainee=None if trainee is None else AccountId(trainee),
        state=state,
        drill=None if drill is None else DrillId(drill),
    )


def _asked(text: str | None) -> UUID | None:
    """The id that is asked for; `_NOTHING` for what could not be one."""
    return None if text is None else uuid_of(text) or _NOTHING
