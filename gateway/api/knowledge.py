"""Knowledge bases and their documents over HTTP: written by instructors, read by all but trainees."""

from http import HTTPStatus

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from gateway.api.access import KnowledgeReader, KnowledgeWriter
from gateway.api.answers import answer, nothing
from gateway.api.body import body_of
from gateway.api.documented import READ, WRITE, takes
from gateway.api.ids import document_id_of, knowledge_base_id_of
from gateway.api.knowledge_views import DocumentView, KnowledgeBaseView
from gateway.api.paging import cursor_of, page_view
from gateway.api.query import query_of
from gateway.api.request_services import services_of
from gateway.api.requests import DocumentBody, DocumentQuery, KnowledgeBaseBody, NoQuery, PageQuery
from gateway.api.upload import upload_of
from gateway.api.views import PageView
from sessions.domain.knowledge import MediaType, Shelving

routes = APIRouter(tags=["knowledge"])

_SAME = "what was there already; nothing was written"


@routes.post(
    "/v1/knowledge-bases",
    status_code=HTTPStatus.CREATED,
    response_model=KnowledgeBaseView,
    responses={**WRITE, 200: {"model": KnowledgeBaseView, "description": _SAME}},
    openapi_extra=takes(body=KnowledgeBaseBody),
)
async def create_knowledge_base(request: Request, viewer: KnowledgeWriter) -> Response:
    query_of(request, NoQuery)
    body = await body_of(request, KnowledgeBaseBody)
    base, is_new = await services_of(request).knowledge.create_base(viewer, body.name, body.guidance or "")
    status = HTTPStatus.CREATED if is_new else HTTPStatus.OK
    return answer(KnowledgeBaseView.of(base), status, headers={"Location": f"/v1/knowledge-bases/{base.id}"})


@routes.get(
    "/v1/knowledge-bases",
    response_model=PageView[KnowledgeBaseView],
    responses=READ,
    openapi_extra=takes(query=PageQuery),
)
async def list_knowledge_bases(request: Request, viewer: KnowledgeReader) -> Response:
    query = query_of(request, PageQuery)
    page = await services_of(request).knowledge.list_bases(viewer, query.limit, cursor_of(query))
    return answer(page_view(page, KnowledgeBaseView.of, PageView[KnowledgeBaseView]))


@routes.get("/v1/knowledge-bases/{knowledge_base_id}", response_model=KnowledgeBaseView, responses=READ)
async def read_knowledge_base(request: Request, viewer: KnowledgeReader, knowledge_base_id: str) -> Response:
    query_of(request, NoQuery)
    base = await services_of(request).knowledge.read_base(viewer, knowledge_base_id_of(knowledge_base_id))
    return answer(KnowledgeBaseView.of(base))


@routes.delete("/v1/knowledge-bases/{knowledge_base_id}", status_code=HTTPStatus.NO_CONTENT, responses=READ)
async def remove_knowledge_base(request: Request, viewer: KnowledgeWriter, knowledge_base_id: str) -> Response:
    query_of(request, NoQuery)
    await services_of(request).knowledge.remove_base(viewer, knowledge_base_id_of(knowledge_base_id))
    return nothing()


@routes.post(
    "/v1/knowledge-bases/{knowledge_base_id}/documents",
    status_code=HTTPStatus.CREATED,
    response_model=DocumentView,
    responses={
        **WRITE,
        200: {"model": DocumentView, "description": f"it took the place of an earlier one, or {_SAME}"},
    },
    openapi_extra=takes(body=DocumentBody, query=DocumentQuery, files=tuple(MediaType)),
)
async def add_document(request: Request, viewer: KnowledgeWriter, knowledge_base_id: str) -> Response:
    knowledge, base = services_of(request).knowledge, knowledge_base_id_of(knowledge_base_id)
    await knowledge.read_base(viewer, base)  # before megabytes are read for nothing
    with knowledge.uploads.one_more():
        shelved = await knowledge.add_document(viewer, base, await upload_of(request))
    status = HTTPStatus.CREATED if shelved.shelving is Shelving.ADDED else HTTPStatus.OK
    where = f"/v1/knowledge-bases/{base}/documents/{shelved.document.id}"
    return answer(DocumentView.of(shelved.document), status, headers={"Location": where})


@routes.get(
    "/v1/knowledge-bases/{knowledge_base_id}/documents",
    response_model=PageView[DocumentView],
    responses=READ,
    openapi_extra=takes(query=PageQuery),
)
async def list_documents(request: Request, viewer: KnowledgeReader, knowledge_base_id: str) -> Response:
    query = query_of(request, PageQuery)
    base = knowledge_base_id_of(knowledge_base_id)
    page = await services_of(request).knowledge.list_documents(viewer, base, query.limit, cursor_of(query))
    return answer(page_view(page, DocumentView.of, PageView[DocumentView]))


@routes.get(
    "/v1/knowledge-bases/{knowledge_base_id}/documents/{document_id}", response_model=DocumentView, responses=READ
)
async def read_document(
    request: Request, viewer: KnowledgeReader, knowledge_base_id: str, document_id: str
) -> Response:
    query_of(request, NoQuery)
    base, document = knowledge_base_id_of(knowledge_base_id), document_id_of(document_id)
    return answer(DocumentView.of(await services_of(request).knowledge.read_document(viewer, base, document)))


@routes.delete(
    "/v1/knowledge-bases/{knowledge_base_id}/documents/{document_id}",
    status_code=HTTPStatus.NO_CONTENT,
    responses=READ,
)
async def remove_document(
    request: Request, viewer: KnowledgeWriter, knowledge_base_id: str, document_id: str
) -> Response:
    query_of(request, NoQuery)
    base, document = knowledge_base_id_of(knowledge_base_id), document_id_of(document_id)
    await services_of(request).knowledge.remove_document(viewer, base, document)
    return nothing()
