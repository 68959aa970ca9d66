"""Ask a knowledge base, or one document of it, many questions; they are answered in the background."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid4

from sessions.domain.citation import DocumentId, KnowledgeBaseId
from sessions.domain.job import ItemPlan, Job, JobId
from sessions.domain.job_layers import LayerSizes, layered_plans, question_plans
from sessions.domain.turn import IdempotencyKey
from sessions.domain.viewer import Viewer
from sessions.errors import DocumentNotFound, KnowledgeBaseNotFound, TooManyQuestions
from sessions.job_ports import AskedJobs
from sessions.knowledge_ports import Catalogue, Shelf
from sessions.ports import Clock


@dataclass(frozen=True, slots=True)
class QuestionsOrder:
    viewer: Viewer
    base: KnowledgeBaseId
    questions: tuple[str, ...]
    document: DocumentId | None = None
    idempotency: IdempotencyKey | None = None


@dataclass(frozen=True, slots=True)
class AskingRules:
    questions_per_job: int
    jobs_per_tenant: int
    """That are not over."""
    sizes: LayerSizes
    """As the model has them that usually answers."""


class AskQuestions:
    def __init__(
        self, *, book: AskedJobs, catalogue: Catalogue, shelf: Shelf, rules: AskingRules, clock: Clock
    ) -> None:
        self._book = book
        self._catalogue = catalogue
        self._shelf = shelf
        self._rules = rules
        self._clock = clock

    async def __call__(self, order: QuestionsOrder) -> Job:
        """The new job, or the earlier one of the same key.

        Raises `KnowledgeBaseNotFound`, `DocumentNotFound`, `TooManyQuestions`, `TooManyJobs` or `IdempotencyKeyReused`.
        """
        if (earlier := await self._earlier(order)) is not None:
            return earlier
        if len(order.questions) > self._rules.questions_per_job:
            raise TooManyQuestions(count=len(order.questions), limit=self._rules.questions_per_job)
        plans = await self._plans(order)
        job = Job(
            id=JobId(uuid4()),
            tenant=order.viewer.tenant,
            base=order.base,
            document=order.document,
            created_by=order.viewer.account,
            created_at=self._clock.now(),
        )
        return await self._book.add(job, plans, order.idempotency, limit=self._rules.jobs_per_tenant)

    async def _earlier(self, order: QuestionsOrder) -> Job | None:
        """Asked for before anything is looked up that may be gone since; two who ask at once meet in the book."""
        if order.idempotency is None:
            return None
        return await self._book.earlier(order.viewer.tenant, order.viewer.account, order.idempotency)

    async def _plans(self, order: QuestionsOrder) -> Sequence[ItemPlan]:
        tenant = order.viewer.tenant
        if await self._catalogue.base(tenant, order.base) is None:
            raise KnowledgeBaseNotFound("there is no such knowledge base")
        if order.document is None:
            return question_plans(order.questions)
        chunks = await self._shelf.chunks_of(tenant, order.base, order.document)
        if not chunks:
            raise DocumentNotFound("the knowledge base has no such document")
        return layered_plans(order.questions, chunks, self._rules.sizes)
