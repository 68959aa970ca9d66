"""What callers get to see of jobs and of the answers in them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Self
from uuid import UUID

from gateway.api.views import CitationView, View
from gateway.domain.cursor import written_number
from sessions.domain.job import Item, Job, LayerCount


class JobErrorView(View):
    code: str
    message: str


class LayerView(View):
    """Summaries of a document that stand before the questions; layer 1 is of its chapters, the next of those."""

    layer: int
    total: int
    completed: int


class ResultView(View):
    number: int
    question: str
    state: str
    attempts: int
    answer: str | None
    finish_reason: str | None
    """`length`: the answer was cut at its most tokens."""
    citations: tuple[CitationView, ...]
    model: str | None
    tier: str | None
    fell_back: bool
    error: JobErrorView | None

    @classmethod
    def of(cls, item: Item) -> Self:
        answer = item.answer
        return cls(
            number=item.plan.number,
            question=item.plan.text,
            state=item.state,
            attempts=item.attempts,
            answer=None if answer is None else answer.text,
            finish_reason=None if answer is None else answer.finish_reason,
            citations=() if answer is None else tuple(CitationView.of(each) for each in answer.citations),
            model=None if answer is None else answer.model,
            tier=None if answer is None else answer.tier,
            fell_back=answer is not None and answer.fell_back,
            error=None if item.error is None else JobErrorView.model_validate(item.error),
        )


class JobView(View):
    id: UUID
    kind: Literal["answers"] = "answers"
    knowledge_base_id: UUID
    document_id: UUID | None
    state: str
    total: int
    done: int
    failed: int
    cancelled: int
    progress: float
    """From 0 to 1, layers before the questions among it."""
    layers: tuple[LayerView, ...]
    error: JobErrorView | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None

    @classmethod
    def of(cls, job: Job) -> Self:
        return cls.model_validate(_facts(job))


class JobWithResultsView(JobView):
    results: tuple[ResultView, ...]
    next_cursor: str | None = None

    @classmethod
    def with_results(cls, job: Job, found: Sequence[Item], *, limit: int) -> Self:
        """`found` holds one more than is shown where there is a next page."""
        shown = tuple(ResultView.of(item) for item in found[:limit])
        more = written_number(shown[-1].number) if len(found) > limit else None
        return cls.model_validate({**_facts(job), "results": shown, "next_cursor": more})


def _facts(job: Job) -> dict[str, object]:
    questions = job.questions
    return {
        "id": job.id,
        "knowledge_base_id": job.base,
        "document_id": job.document,
        "state": job.state,
        "total": questions.total,
        "done": questions.completed,
        "failed": questions.failed,
        "cancelled": questions.cancelled,
        "progress": round(job.progress, 4),
        "layers": tuple(_layer(layer) for layer in job.layers[:-1]),
        "error": None if job.error is None else JobErrorView.model_validate(job.error),
        "created_at": job.created_at,
        "started_at": job.started_at,
        "ended_at": job.ended_at,
    }


def _layer(count: LayerCount) -> LayerView:
    return LayerView(layer=count.layer, total=count.total, completed=count.completed)
