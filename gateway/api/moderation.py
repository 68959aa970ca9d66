"""Moderation tried out and set over HTTP: checks and dry runs, of which nothing is kept; settings; the audit trail."""

import asyncio

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from gateway.api.access import ModerationReader, ModerationWriter, TextChecker, caller_of
from gateway.api.answers import answer
from gateway.api.body import body_of
from gateway.api.documented import ORDER, READ, takes
from gateway.api.moderation_bodies import CheckBody, DryRunBody, ModerationSettingsBody
from gateway.api.moderation_views import AuditEntryView, CheckView, DryRunView, ModerationSettingsView
from gateway.api.phrase_list_body import list_body_of
from gateway.api.query import query_of
from gateway.api.request_services import services_of
from gateway.api.requests import NoQuery, PageQuery
from gateway.api.views import PageView
from gateway.domain.access import Action
from gateway.domain.cursor import read_number, written_number
from gateway.list_trial import TrialResult

routes = APIRouter(tags=["moderation"])


@routes.post("/v1/moderation/check", response_model=CheckView, responses=ORDER, openapi_extra=takes(body=CheckBody))
async def check_text(request: Request, viewer: TextChecker) -> Response:
    """What a turn of this text would meet now; nothing is kept of it."""
    query_of(request, NoQuery)
    body = await body_of(request, CheckBody)
    way, scenario = body.way(), body.scenario()
    return answer(CheckView.of(await services_of(request).moderation.check(viewer, body.text, way, scenario)))


@routes.post("/v1/moderation/dry-run", response_model=DryRunView, responses=ORDER, openapi_extra=takes(body=DryRunBody))
async def try_phrase_list(request: Request, viewer: ModerationReader) -> Response:
    """What a list that is not in force would do, beside what is in force now; nothing is kept."""
    query_of(request, NoQuery)
    with services_of(request).knowledge.uploads.one_more():
        body, content = await list_body_of(request, DryRunBody)
        if body.recent_turns:  # which it shows
            caller_of(request).must(Action.READ_SESSIONS)
        found = await services_of(request).moderation.trial(viewer, body.trial(content))
    return await asyncio.to_thread(_told, found)


@routes.get("/v1/moderation/settings", response_model=ModerationSettingsView, responses=READ)
async def read_moderation_settings(request: Request, viewer: ModerationReader) -> Response:
    query_of(request, NoQuery)
    return answer(ModerationSettingsView.of(*await services_of(request).moderation.policy.read(viewer)))


@routes.put(
    "/v1/moderation/settings",
    response_model=ModerationSettingsView,
    responses=ORDER,
    openapi_extra=takes(body=ModerationSettingsBody),
)
async def set_moderation_settings(request: Request, viewer: ModerationWriter) -> Response:
    """What is null or not named is inherited from now on."""
    query_of(request, NoQuery)
    body = await body_of(request, ModerationSettingsBody)
    changed = await services_of(request).moderation.policy.change(viewer, body.policy())
    return answer(ModerationSettingsView.of(*changed))


@routes.get(
    "/v1/moderation/audit",
    response_model=PageView[AuditEntryView],
    responses=READ,
    openapi_extra=takes(query=PageQuery),
)
async def read_moderation_audit(request: Request, viewer: ModerationReader) -> Response:
    """Every change of lists and settings and every decision, the newest first."""
    query = query_of(request, PageQuery)
    before = read_number(query.cursor) if query.cursor is not None else None
    # One more than is shown tells whether there is a next page.
    found = await services_of(request).moderation.audit(viewer, query.limit + 1, before)
    shown = tuple(AuditEntryView.of(entry) for entry in found[: query.limit])
    more = written_number(shown[-1].id) if len(found) > query.limit else None
    return answer(PageView[AuditEntryView](items=shown, next_cursor=more))


def _told(found: TrialResult) -> Response:
    return answer(DryRunView.of(found))
