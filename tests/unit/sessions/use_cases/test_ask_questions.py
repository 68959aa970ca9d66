"""Asking a base or a document: what is planned, and what is refused."""

from dataclasses import replace
from uuid import uuid4

import pytest

from sessions.adapters.memory_jobs import MemoryJobs
from sessions.adapters.memory_knowledge import MemoryKnowledge
from sessions.domain.citation import DocumentId, KnowledgeBaseId
from sessions.domain.job import JobState
from sessions.domain.job_layers import LayerSizes
from sessions.domain.turn import IdempotencyKey
from sessions.errors import DocumentNotFound, IdempotencyKeyReused, KnowledgeBaseNotFound, TooManyJobs, TooManyQuestions
from sessions.use_cases.ask_questions import AskingRules, AskQuestions, QuestionsOrder
from tests.support.records_world import ELSEWHERE, HERE
from tests.support.session_fakes import FakeClock
from tests.support.shelved import shelved

RULES = AskingRules(questions_per_job=3, jobs_per_tenant=2, sizes=LayerSizes(whole=10, stretch=20, summaries=2))


async def prepared(*texts: str) -> tuple[AskQuestions, MemoryJobs, QuestionsOrder, DocumentId]:
    knowledge, jobs = MemoryKnowledge(), MemoryJobs()
    base, document = await shelved(knowledge, HERE.tenant, *texts)
    ask = AskQuestions(book=jobs, catalogue=knowledge, shelf=knowledge, rules=RULES, clock=FakeClock())
    return ask, jobs, QuestionsOrder(HERE.teacher, base.id, ("One?", "Two?")), document.id


async def test_a_base_is_asked_question_by_question() -> None:
    ask, jobs, order, _ = await prepared()
    job = await ask(order)
    assert (job.state, job.base, job.document, job.created_by) == (JobState.QUEUED, order.base, None, HERE.instructor)
    assert [layer.total for layer in job.layers] == [2]
    asked = await jobs.questions(HERE.tenant, job.id, limit=9)
    assert [item.plan.text for item in asked] == ["One?", "Two?"]


async def test_a_long_document_is_read_in_layers() -> None:
    ask, _, order, document = await prepared("word " * 12, "word " * 12, "word " * 12)
    job = await ask(replace(order, document=document))
    assert job.document == document
    assert [layer.total for layer in job.layers] == [3, 2, 1, 2]


async def test_a_short_document_is_asked_at_once() -> None:
    ask, _, order, document = await prepared("word " * 8)
    assert [layer.total for layer in (await ask(replace(order, document=document))).layers] == [2]


async def test_what_is_not_there_cannot_be_asked() -> None:
    ask, _, order, document = await prepared()
    with pytest.raises(KnowledgeBaseNotFound):
        await ask(replace(order, base=KnowledgeBaseId(uuid4())))
    with pytest.raises(KnowledgeBaseNotFound):
        await ask(replace(order, viewer=ELSEWHERE.teacher, document=document))
    with pytest.raises(DocumentNotFound):
        await ask(replace(order, document=DocumentId(uuid4())))


async def test_there_is_a_limit_to_questions_and_to_jobs() -> None:
    ask, _, order, _ = await prepared()
    with pytest.raises(TooManyQuestions) as refused:
        await ask(replace(order, questions=("?",) * 4))
    assert refused.value.limit == 3
    await ask(order)
    await ask(order)
    with pytest.raises(TooManyJobs):
        await ask(order)


async def test_the_same_key_is_the_same_job() -> None:
    ask, _, order, _ = await prepared()
    order = replace(order, idempotency=IdempotencyKey("k", "d"))
    assert (await ask(order)).id == (await ask(order)).id


async def test_the_same_key_is_the_same_job_when_the_base_is_gone() -> None:
    knowledge, jobs = MemoryKnowledge(), MemoryJobs()
    base, document = await shelved(knowledge, HERE.tenant, "word " * 8)
    ask = AskQuestions(book=jobs, catalogue=knowledge, shelf=knowledge, rules=RULES, clock=FakeClock())
    order = QuestionsOrder(HERE.teacher, base.id, ("One?", "Two?"))
    of_base = replace(order, idempotency=IdempotencyKey("base", "d"))
    of_document = replace(order, document=document.id, idempotency=IdempotencyKey("document", "d"))
    asked = [await ask(of_base), await ask(of_document)]
    await knowledge.remove_base(HERE.tenant, order.base)
    assert [await ask(of_base), await ask(of_document)] == asked
    with pytest.raises(IdempotencyKeyReused):
        await ask(replace(of_base, idempotency=IdempotencyKey("base", "other")))
    with pytest.raises(KnowledgeBaseNotFound):
        await ask(replace(order, idempotency=IdempotencyKey("new", "d")))
