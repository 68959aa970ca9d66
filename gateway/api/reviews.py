"""Reviews over HTTP: turns that moderation has marks on wait for a decision by staff."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from gateway.api.access import TurnReviewer
from gateway.api.answers import answer
from gateway.api.body import body_of
from gateway.api.documented import READ, WRITE, takes
from gateway.api.ids import turn_number_of, uuid_of
from gateway.api.query import query_of
from gateway.api.request_facts import facts_of
from gateway.api.request_services import services_of
from gateway.api.requests import NoQuery
from gateway.api.review_bodies import DecisionBody, ReviewsQuery
from gateway.api.review_views import DecisionView, ReviewInContextView, ReviewView
from gateway.api.views import PageView
from gateway.domain.cursor import written_turn
from sessions.domain.session import SessionId
from sessions.errors import ReviewNotFound

routes = APIRouter(tags=["moderation"])

_REVIEWS = "/v1/moderation/reviews"
_REVIEW = f"{_REVIEWS}/{{session_id}}/{{turn}}"


@routes.get(_REVIEWS, response_model=PageView[ReviewView], responses=READ, openapi_extra=takes(query=ReviewsQuery))
async def list_reviews(request: Request, viewer: TurnReviewer) -> Response:
    query = query_of(request, ReviewsQuery)
    page = await services_of(request).reviews.page(viewer, query.wanted(), query.limit, query.after())
    items = tuple(ReviewView.of(review) for review in page.items)
    more = None if page.next is None else written_turn(page.next)
    return answer(PageView[ReviewView](items=items, next_cursor=more))


@routes.get(_REVIEW, response_model=ReviewInContextView, responses=READ)
async def read_review(request: Request, viewer: TurnReviewer, session_id: str, turn: str) -> Response:
    query_of(request, NoQuery)
    session, number = _reviewed(request, session_id, turn)
    return answer(ReviewInContextView.of(await services_of(request).reviews.read(viewer, session, number)))


@routes.post(
    f"{_REVIEW}/decision", response_model=DecisionView, responses=WRITE, openapi_extra=takes(body=DecisionBody)
)
async def decide_review(request: Request, viewer: TurnReviewer, session_id: str, turn: str) -> Response:
    """The first decision stands; the same one again is answered alike."""
    query_of(request, NoQuery)
    session, number = _reviewed(request, session_id, turn)
    body = await body_of(request, DecisionBody)
    return answer(DecisionView.of(await services_of(request).reviews.decide(viewer, session, number, body.wish())))


def _reviewed(request: Request, session_id: str, turn: str) -> tuple[SessionId, int]:
    session = uuid_of(session_id)
    if session is None:
        raise ReviewNotFound("there is no such turn to review")
    facts_of(request.scope).session = str(session)
    return SessionId(session), turn_number_of(request, turn)
