"""POST /v1/moderations, as any client of OpenAI's API asks it."""

from uuid import uuid4

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from gateway.api.access import TextChecker
from gateway.api.body import media_type_of, parsed, raw_of
from gateway.api.openai_documented import JUDGED, MODERATION
from gateway.api.query import query_of
from gateway.api.request_services import services_of
from gateway.api.requests import NoQuery
from gateway.domain.accept import JSON
from gateway.domain.openai_moderation import asked_moderation, moderation_answer
from gateway.errors import UnsupportedMediaType
from gateway.text_check import CheckedAs, fit
from sessions.domain.moderation import together

routes = APIRouter(tags=["openai"])


@routes.post("/v1/moderations", response_model=None, responses=JUDGED, openapi_extra=MODERATION)
async def moderate_texts(request: Request, viewer: TextChecker) -> Response:
    """Each text as a person's message, by the rules of the tenant; nothing is kept of it."""
    query_of(request, NoQuery)
    services = services_of(request)
    if media_type_of(request) != JSON:
        raise UnsupportedMediaType(f"the body must be {JSON}")
    asked = asked_moderation(parsed(await raw_of(request, services.settings.openai.body_limit_bytes)))
    check = services.moderation.check
    rules = await check.rules(viewer)
    found = []
    for texts in asked:
        one = [await check.judged(rules, fit("input", text), CheckedAs.MESSAGE) for text in texts]
        found.append(together(each.judgement for each in one))
    return JSONResponse(moderation_answer(f"modr-{uuid4().hex}", found), headers={"Cache-Control": "no-store"})
