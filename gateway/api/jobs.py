"""Jobs over HTTP: questions to a knowledge base that are answered in the background."""

from http import HTTPStatus

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from gateway.api.access import JobRunner
from gateway.api.answers import answer
from gateway.api.body import body_of
from gateway.api.documented import ASK, CHANGE, IDEMPOTENCY_KEY, READ, takes
from gateway.api.ids import document_id_of, job_id_of, knowledge_base_id_of
from gateway.api.job_views import JobView, JobWithResultsView
from gateway.api.paging import cursor_of, page_view
from gateway.api.query import query_of
from gateway.api.request_services import services_of
from gateway.api.requests import NoQuery, PageQuery, QuestionsBody
from gateway.api.views import PageView
from gateway.domain.cursor import read_number
from gateway.domain.idempotency import idempotency_key
from sessions.use_cases.ask_questions import QuestionsOrder

routes = APIRouter(tags=["jobs"])


@routes.post(
    "/v1/knowledge-bases/{knowledge_base_id}/answers",
    status_code=HTTPStatus.ACCEPTED,
    response_model=JobView,
    responses=ASK,
    openapi_extra=takes(body=QuestionsBody, headers=(IDEMPOTENCY_KEY,)),
)
async def ask_questions(request: Request, viewer: JobRunner, knowledge_base_id: str) -> Response:
    query_of(request, NoQuery)
    body = await body_of(request, QuestionsBody, limit_bytes=services_of(request).settings.jobs.questions_bytes)
    asked = {str(number): question for number, question in enumerate(body.questions)}
    key = idempotency_key(request.headers.getlist("idempotency-key"), knowledge_base_id, body.document_id, asked)
    document = None if body.document_id is None else document_id_of(body.document_id)
    base = knowledge_base_id_of(knowledge_base_id)
    order = QuestionsOrder(viewer, base, tuple(body.questions), document, key)
    job = await services_of(request).jobs.ask(order)
    return answer(JobView.of(job), HTTPStatus.ACCEPTED, headers={"Location": f"/v1/jobs/{job.id}"})


@routes.get("/v1/jobs", response_model=PageView[JobView], responses=READ, openapi_extra=takes(query=PageQuery))
async def list_jobs(request: Request, viewer: JobRunner) -> Response:
    query = query_of(request, PageQuery)
    page = await services_of(request).jobs.list(viewer, query.limit, cursor_of(query))
    return answer(page_view(page, JobView.of, PageView[JobView]))


@routes.get(
    "/v1/jobs/{job_id}", response_model=JobWithResultsView, responses=READ, openapi_extra=takes(query=PageQuery)
)
async def read_job(request: Request, viewer: JobRunner, job_id: str) -> Response:
    query = query_of(request, PageQuery)
    after = read_number(query.cursor) if query.cursor is not None else 0
    cases, which = services_of(request).jobs, job_id_of(job_id)
    job = await cases.read(viewer, which)
    # One more than is shown tells whether there is a next page.
    found = await cases.results(viewer, which, query.limit + 1, after)
    return answer(JobWithResultsView.with_results(job, found, limit=query.limit))


@routes.post("/v1/jobs/{job_id}/cancel", status_code=HTTPStatus.ACCEPTED, response_model=JobView, responses=CHANGE)
async def cancel_job(request: Request, viewer: JobRunner, job_id: str) -> Response:
    query_of(request, NoQuery)
    return answer(JobView.of(await services_of(request).jobs.cancel(viewer, job_id_of(job_id))), HTTPStatus.ACCEPTED)
