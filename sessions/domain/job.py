"""A job: questions to one knowledge base, answered in the background, each with its own answer or its own error.

Where the answers come from one long document, layers of condensing are done before the questions. Everything that has
to be generated is an item of the job, so that what was done stays done whoever falls.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NewType
from uuid import UUID

from sessions.domain.citation import Citation, DocumentId, KnowledgeBaseId
from sessions.domain.viewer import AccountId, TenantId

JobId = NewType("JobId", UUID)
WorkerId = NewType("WorkerId", str)


class JobState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    """Every question has its answer or its error."""
    CANCELLED = "cancelled"
    FAILED = "failed"
    """What it stood on is gone; the questions without an answer say why."""

    @property
    def is_over(self) -> bool:
        return self not in (JobState.QUEUED, JobState.RUNNING)


class ItemState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_open(self) -> bool:
        return self in (ItemState.QUEUED, ItemState.RUNNING)


class ItemKind(StrEnum):
    SUMMARY = "summary"
    """Condenses a stretch of the document, or of the summaries of the layer below."""
    QUESTION = "question"


@dataclass(frozen=True, slots=True)
class ItemError:
    """Why there is no answer: a stable code and a sentence."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class ItemPlan:
    """What is to be generated. Items of a layer wait until every item of the layers before it has ended."""

    layer: int
    """From 1; the questions are the last layer."""
    number: int
    """From 1, within its layer."""
    kind: ItemKind
    text: str = ""
    """The question; empty for a summary."""
    first: int = 0
    last: int = 0
    """A summary's stretch, both included: chunks of the document in layer 1, else items of the layer below."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What was generated for an item."""

    text: str
    finish_reason: str
    model: str = ""
    tier: str = ""
    fell_back: bool = False
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """One item as it stands in the records."""

    plan: ItemPlan
    state: ItemState = ItemState.QUEUED
    attempts: int = 0
    """How often it was begun by somebody who then met an error or was lost."""
    answer: Answer | None = None
    error: ItemError | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class LayerCount:
    """How far one layer is."""

    layer: int
    total: int
    completed: int = 0
    failed: int = 0
    cancelled: int = 0

    @property
    def ended(self) -> int:
        return self.completed + self.failed + self.cancelled


@dataclass(frozen=True, slots=True)
class Job:
    id: JobId
    tenant: TenantId
    base: KnowledgeBaseId
    created_by: AccountId
    created_at: datetime
    document: DocumentId | None = None
    """The one document that the answers come from; None: the whole base."""
    state: JobState = JobState.QUEUED
    error: ItemError | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    layers: tuple[LayerCount, ...] = ()
    """By number; the last one holds the questions."""

    @property
    def questions(self) -> LayerCount:
        return self.layers[-1]

    @property
    def progress(self) -> float:
        """From 0 to 1, of everything that has to be generated."""
        return sum(layer.ended for layer in self.layers) / sum(layer.total for layer in self.layers)


def counted(plans: Iterable[ItemPlan]) -> tuple[LayerCount, ...]:
    """The layers of a job whose items all wait."""
    totals: dict[int, int] = {}
    for plan in plans:
        totals[plan.layer] = totals.get(plan.layer, 0) + 1
    return tuple(LayerCount(layer, totals[layer]) for layer in sorted(totals))


def recounted(items: Sequence[Item]) -> tuple[LayerCount, ...]:
    """The layers of a job with these items."""

    def of(layer: LayerCount, state: ItemState) -> int:
        return sum(item.state is state and item.plan.layer == layer.layer for item in items)

    return tuple(
        replace(
            layer,
            completed=of(layer, ItemState.COMPLETED),
            failed=of(layer, ItemState.FAILED),
            cancelled=of(layer, ItemState.CANCELLED),
        )
        for layer in counted(item.plan for item in items)
    )


@dataclass(frozen=True, slots=True)
class Place:
    """Names one item."""

    job: JobId
    layer: int
    number: int


@dataclass(frozen=True, slots=True)
class Claim:
    """An item that one worker has to itself until `until`, and again for as long as it renews that."""

    place: Place
    tenant: TenantId
    base: KnowledgeBaseId
    document: DocumentId | None
    asked_by: AccountId
    plan: ItemPlan
    attempt: int
    """1 for the first."""
    owner: WorkerId
    until: datetime


# What may become of a claim.
@dataclass(frozen=True, slots=True)
class Answered:
    answer: Answer


@dataclass(frozen=True, slots=True)
class Refused:
    """There will be no answer, however often it is tried."""

    error: ItemError


@dataclass(frozen=True, slots=True)
class Doomed:
    """Nor can the rest of the job be answered."""

    error: ItemError


@dataclass(frozen=True, slots=True)
class Troubled:
    """It went wrong in a way that may pass."""

    error: ItemError
    pause_s: float = 0.0
    """When others would fare the same: how long not to try any."""


@dataclass(frozen=True, slots=True)
class GivenBack:
    """Nothing was tried, or others went first: the attempt does not count."""

    pause_s: float = 0.0
    """When others go first: how long not to try any."""


Outcome = Answered | Refused | Doomed | Troubled | GivenBack


@dataclass(frozen=True, slots=True)
class RetryRule:
    attempts: int
    pause_s: float
    """Before the second attempt; it doubles with each further one."""


@dataclass(frozen=True, slots=True)
class Again:
    """The item waits for `not_before`."""

    not_before: datetime
    counts: bool
    """Whether the attempt counts."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The item has ended, with an answer or an error; `ends_job` ends the rest with the same error."""

    answer: Answer | None = None
    error: ItemError | None = None
    ends_job: bool = False


def verdict(outcome: Outcome, claim: Claim, rule: RetryRule, *, at: datetime) -> Again | Ended:
    """What is written of an outcome. A document of which a part could not be read is not answered from."""
    if isinstance(outcome, Answered):
        return Ended(answer=outcome.answer)
    if isinstance(outcome, GivenBack):
        return Again(at + timedelta(seconds=outcome.pause_s), counts=False)
    if isinstance(outcome, Troubled) and claim.attempt < rule.attempts:
        return Again(at + timedelta(seconds=rule.pause_s * 2 ** (claim.attempt - 1)), counts=True)
    ends_job = isinstance(outcome, Doomed) or claim.plan.kind is ItemKind.SUMMARY
    return Ended(error=outcome.error, ends_job=ends_job)
