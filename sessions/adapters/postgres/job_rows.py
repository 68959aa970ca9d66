"""Jobs and their items as rows, and back."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import Row

from sessions.domain.citation import Citation
from sessions.domain.job import (
    Again,
    Answer,
    Ended,
    Item,
    ItemError,
    ItemKind,
    ItemPlan,
    ItemState,
    Job,
    JobState,
    LayerCount,
)
from sessions.domain.turn import IdempotencyKey

_CITATIONS = TypeAdapter(tuple[Citation, ...])

NO_LEASE: Mapping[str, None] = {"lease_owner": None, "lease_until": None}


def job_values(job: Job, idempotency: IdempotencyKey | None) -> dict[str, object]:
    return {
        "id": job.id,
        "tenant_id": job.tenant,
        "knowledge_base_id": job.base,
        "document_id": job.document,
        "state": job.state,
        "created_by": job.created_by,
        "created_at": job.created_at,
        "idempotency_key": None if idempotency is None else idempotency.key,
        "idempotency_digest": None if idempotency is None else idempotency.digest,
    }


def job_of(row: Row[Any], layers: Iterable[LayerCount]) -> Job:
    return Job(
        id=row.id,
        tenant=row.tenant_id,
        base=row.knowledge_base_id,
        document=row.document_id,
        created_by=row.created_by,
        created_at=row.created_at,
        state=JobState(row.state),
        error=_error(row),
        started_at=row.started_at,
        ended_at=row.ended_at,
        layers=tuple(layers),
    )


def item_values(job: Job, plan: ItemPlan) -> dict[str, object]:
    return {
        "job_id": job.id,
        "layer": plan.layer,
        "number": plan.number,
        "tenant_id": job.tenant,
        "kind": plan.kind,
        "text": plan.text,
        "first": plan.first,
        "last": plan.last,
        "state": ItemState.QUEUED,
        "attempts": 0,
        "not_before": job.created_at,
    }


def plan_of(row: Row[Any]) -> ItemPlan:
    return ItemPlan(row.layer, row.number, ItemKind(row.kind), row.text, row.first, row.last)


def item_of(row: Row[Any]) -> Item:
    return Item(
        plan=plan_of(row),
        state=ItemState(row.state),
        attempts=row.attempts,
        answer=_answer(row),
        error=_error(row),
        started_at=row.started_at,
        ended_at=row.ended_at,
    )


def ended_values(what: Ended) -> dict[str, object]:
    if what.answer is not None:
        answer = what.answer
        return {
            "state": ItemState.COMPLETED,
            "answer": answer.text,
            "finish_reason": answer.finish_reason,
            "model": answer.model,
            "tier": answer.tier,
            "fell_back": answer.fell_back,
            "citations": _CITATIONS.dump_python(answer.citations, mode="json"),
        }
    return {"state": ItemState.FAILED, **error_values(what.error)}


def again_values(what: Again, attempts: int) -> dict[str, object]:
    return {
        "state": ItemState.QUEUED,
        "not_before": what.not_before,
        "attempts": attempts if what.counts else attempts - 1,
    }


def error_values(error: ItemError | None) -> dict[str, object]:
    return {
        "error_code": None if error is None else error.code,
        "error_message": None if error is None else error.message,
    }


def _answer(row: Row[Any]) -> Answer | None:
    if row.answer is None:
        return None
    citations = _CITATIONS.validate_python(row.citations)
    return Answer(row.answer, row.finish_reason, row.model, row.tier, row.fell_back, citations)


def _error(row: Row[Any]) -> ItemError | None:
    return None if row.error_code is None else ItemError(row.error_code, row.error_message)
