"""Jobs as a caller uses them."""

from collections.abc import Sequence

from gateway.cli.answers_wire import JobPage, JobView, ResultView
from gateway.cli.api_client import PAGE, ApiClient, path_part


class AnswersClient:
    def __init__(self, client: ApiClient) -> None:
        self._client = client

    async def ask(self, base: str, questions: Sequence[str], document: str | None) -> JobView:
        body: dict[str, object] = {"questions": list(questions)}
        if document is not None:
            body["document_id"] = document
        return await self._client.write(f"/v1/knowledge-bases/{path_part(base)}/answers", JobView, body)

    async def job(self, job: str) -> JobView:
        return await self._client.read(_job(job), JobPage, limit="1")

    async def results(self, job: str) -> list[ResultView]:
        found: list[ResultView] = []
        cursor = None
        while True:
            page = await self._client.read(_job(job), JobPage, limit=str(PAGE), cursor=cursor)
            found += page.results
            if (cursor := page.next_cursor) is None:
                return found


def _job(job: str) -> str:
    return f"/v1/jobs/{path_part(job)}"
