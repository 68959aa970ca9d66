"""Phrase lists over HTTP: written in versions by staff, put in force and taken out of it without a restart."""

import asyncio
from http import HTTPStatus

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from gateway.api.access import ModerationReader, ModerationWriter
from gateway.api.answers import answer, nothing
from gateway.api.body import body_of
from gateway.api.documented import CHANGE, READ, WRITE, takes
from gateway.api.ids import list_id_of, list_version_of
from gateway.api.moderation_bodies import LiveBody
from gateway.api.moderation_views import (
    ListVersionView,
    PhraseListView,
    PhraseListWithVersionsView,
    VersionSummaryView,
)
from gateway.api.paging import cursor_of, page_view
from gateway.api.phrase_list_body import ListVersionBody, PhraseListBody, list_body_of
from gateway.api.query import query_of
from gateway.api.request_services import services_of
from gateway.api.requests import NoQuery, PageQuery
from gateway.api.views import PageView
from gateway.moderation_ports import ListVersion
from gateway.phrase_list_cases import ListContent

routes = APIRouter(tags=["moderation"])

_LISTS = "/v1/moderation/lists"


@routes.post(
    _LISTS,
    status_code=HTTPStatus.CREATED,
    response_model=PhraseListView,
    responses=WRITE,
    openapi_extra=takes(body=PhraseListBody),
)
async def create_phrase_list(request: Request, viewer: ModerationWriter) -> Response:
    query_of(request, NoQuery)
    with services_of(request).knowledge.uploads.one_more():
        body, content = await list_body_of(request, PhraseListBody)
        kept = await services_of(request).moderation.lists.create(viewer, body.new(content or ListContent()))
    return answer(PhraseListView.of(kept), HTTPStatus.CREATED, headers={"Location": f"{_LISTS}/{kept.id}"})


@routes.get(_LISTS, response_model=PageView[PhraseListView], responses=READ, openapi_extra=takes(query=PageQuery))
async def list_phrase_lists(request: Request, viewer: ModerationReader) -> Response:
    """The newest first; archived ones too."""
    query = query_of(request, PageQuery)
    page = await services_of(request).moderation.lists.page(viewer, query.limit, cursor_of(query))
    return answer(page_view(page, PhraseListView.of, PageView[PhraseListView]))


@routes.get(f"{_LISTS}/{{list_id}}", response_model=PhraseListWithVersionsView, responses=READ)
async def read_phrase_list(request: Request, viewer: ModerationReader, list_id: str) -> Response:
    query_of(request, NoQuery)
    lists, which = services_of(request).moderation.lists, list_id_of(list_id)
    kept = await lists.read(viewer, which)
    return answer(PhraseListWithVersionsView.with_versions(kept, await lists.versions(viewer, which)))


@routes.get(f"{_LISTS}/{{list_id}}/versions/{{version}}", response_model=ListVersionView, responses=READ)
async def read_phrase_list_version(request: Request, viewer: ModerationReader, list_id: str, version: str) -> Response:
    """With all that it says, which may be megabytes."""
    query_of(request, NoQuery)
    lists, which = services_of(request).moderation.lists, list_id_of(list_id)
    return await asyncio.to_thread(_told, await lists.version(viewer, which, list_version_of(version)))


@routes.post(
    f"{_LISTS}/{{list_id}}/versions",
    status_code=HTTPStatus.CREATED,
    response_model=VersionSummaryView,
    responses={
        **WRITE,
        200: {"model": VersionSummaryView, "description": "the latest version says this already; nothing was written"},
    },
    openapi_extra=takes(body=ListVersionBody),
)
async def add_phrase_list_version(request: Request, viewer: ModerationWriter, list_id: str) -> Response:
    """It does not come into force by itself."""
    query_of(request, NoQuery)
    lists, which = services_of(request).moderation.lists, list_id_of(list_id)
    await lists.read(viewer, which)  # before megabytes are read for nothing
    with services_of(request).knowledge.uploads.one_more():
        _, content = await list_body_of(request, ListVersionBody)
        found, is_new = await lists.add_version(viewer, which, content or ListContent())
    where = f"{_LISTS}/{which}/versions/{found.version}"
    shown = VersionSummaryView.model_validate(found.summary)
    return answer(shown, HTTPStatus.CREATED if is_new else HTTPStatus.OK, headers={"Location": where})


@routes.put(
    f"{_LISTS}/{{list_id}}/live", response_model=PhraseListView, responses=WRITE, openapi_extra=takes(body=LiveBody)
)
async def put_phrase_list_in_force(request: Request, viewer: ModerationWriter, list_id: str) -> Response:
    """Turns that begin after the answer meet the new rules; those that run keep theirs."""
    query_of(request, NoQuery)
    body, which = await body_of(request, LiveBody), list_id_of(list_id)
    return answer(PhraseListView.of(await services_of(request).moderation.lists.go_live(viewer, which, body.version)))


@routes.delete(f"{_LISTS}/{{list_id}}", status_code=HTTPStatus.NO_CONTENT, responses=CHANGE)
async def archive_phrase_list(request: Request, viewer: ModerationWriter, list_id: str) -> Response:
    """It is out of force for good; its versions and its name stay."""
    query_of(request, NoQuery)
    await services_of(request).moderation.lists.archive(viewer, list_id_of(list_id))
    return nothing()


def _told(found: ListVersion) -> Response:
    return answer(ListVersionView.of(found))
