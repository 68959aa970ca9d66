"""One item generated: what is asked of whom, and what becomes of every trouble."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from uuid import uuid4

import pytest
from typing_extensions import override

from gateway.domain.moderation.injection import InjectionScorer
from gateway.domain.moderation.phrases import Action
from gateway.moderation_desk import ModerationDesk
from sessions.adapters.memory_jobs import MemoryJobs
from sessions.adapters.memory_knowledge import MemoryKnowledge
from sessions.answer_writer import AnswerWriter
from sessions.domain.answer_shares import AnswerShares
from sessions.domain.citation import Background, Citation, DocumentId, KnowledgeBaseId
from sessions.domain.job import (
    Answer,
    Answered,
    Claim,
    Doomed,
    Ended,
    GivenBack,
    ItemKind,
    Job,
    Outcome,
    Refused,
    Troubled,
)
from sessions.domain.job_layers import LayerSizes, layered_plans, question_plans
from sessions.domain.knowledge import Document, KnowledgeBase
from sessions.domain.session import SessionId
from sessions.domain.tiers import Chosen, Tier
from sessions.domain.turn import Usage
from sessions.domain.viewer import TenantId
from sessions.errors import (
    PoolUnavailable,
    RecordsUnavailable,
    TutorAbsent,
    TutorBroke,
    TutorFull,
    TutorRejected,
    TutorUnavailable,
)
from sessions.job_ports import SureSearch
from sessions.moderation_ports import Moderation, Rules
from sessions.ports import Piece, ReplyEnd, Tiers, Tutor, TutorReply, TutorRequest
from sessions.use_cases.generate_item import GenerateItem, KnowledgeSources
from tests.support.absent_guard import unguarded
from tests.support.jobs_fixture import ANNE, LEASE, job
from tests.support.moderated import FixedRules, UnreadableRules, banned, live_rules, moderation
from tests.support.records_world import HERE, NOON
from tests.support.session_fakes import WordCounter
from tests.support.shelved import GUIDANCE, put, shelved

SIZES = LayerSizes(whole=10, stretch=20, summaries=2)
FOUND = Background("[1] Returns\nReturns are free.", 5, (Citation(DocumentId(uuid4()), "Returns", 1, "", 0.9),))


NO_RULES = moderation()
LARGE = Chosen(Tier.FAQ, "large", fell_back=True)


@dataclass
class FakeSearch(SureSearch):
    asked: list[tuple[str, int]] = field(default_factory=list)
    is_ready: bool = True

    @override
    async def find_surely(
        self, tenant: TenantId, base: KnowledgeBaseId, question: str, *, budget_tokens: int, rules: Rules
    ) -> Background:
        if not self.is_ready:
            raise RecordsUnavailable
        self.asked.append((question, budget_tokens))
        return FOUND


@dataclass
class FakeTiers(Tiers):
    chosen: Chosen = LARGE
    trouble: Exception | None = None

    @override
    async def choose(
        self, tier: Tier, tenant: TenantId, wanted: Mapping[Tier, str], *, lost: Collection[str] = ()
    ) -> Chosen:
        if self.trouble is not None:
            raise self.trouble
        assert tier is Tier.FAQ
        return self.chosen

    @override
    async def candidates(self, tier: Tier, tenant: TenantId, wanted: Mapping[Tier, str]) -> Sequence[str]:
        return [self.chosen.model]


@dataclass
class ScriptedReply(TutorReply):
    script: Sequence[str | Exception]
    reason: str
    replica: str = "replica-1"
    pin: str = "none"
    continued: int = 0

    @property
    @override
    def items(self) -> AsyncIterator[Piece | ReplyEnd]:
        return self._play()

    async def _play(self) -> AsyncIterator[Piece | ReplyEnd]:
        for step in self.script:
            if isinstance(step, Exception):
                raise step
            yield Piece(step)
        if self.reason:
            yield ReplyEnd(self.reason, Usage())


@dataclass
class ScriptedTutor(Tutor):
    """`reason`: why replies end; empty: they end without an end."""

    script: Sequence[str | Exception] = ("Hello", " there.")
    reason: str = "stop"
    refusal: Exception | None = None
    requests: list[TutorRequest] = field(default_factory=list)

    @override
    @asynccontextmanager
    async def reply(self, request: TutorRequest) -> AsyncIterator[TutorReply]:
        self.requests.append(request)
        if self.refusal is not None:
            raise self.refusal
        yield ScriptedReply(self.script, self.reason)

    @override
    async def warm(self, request: TutorRequest) -> None:
        raise AssertionError("nothing of a job is warmed")

    @override
    async def forget(self, session: SessionId) -> None:
        raise AssertionError("nothing of a job is pinned")


@dataclass
class Bench:
    knowledge: MemoryKnowledge
    jobs: MemoryJobs
    tutor: ScriptedTutor
    search: FakeSearch
    tiers: FakeTiers
    generate: GenerateItem
    base: KnowledgeBase
    document: Document
    job: Job

    async def claim(self) -> Claim:
        claim = await self.jobs.claim(ANNE, at=NOON, until=NOON + LEASE, running=9)
        assert claim is not None
        return claim

    async def next(self) -> Outcome:
        return await self.generate(await self.claim())

    @property
    def request(self) -> TutorRequest:
        return self.tutor.requests[-1]

    @property
    def shown(self) -> str:
        return self.request.messages[-1].content


async def bench(
    *texts: str,
    questions: Sequence[str] = ("Free?", "How long?"),
    of_document: bool = False,
    desk: Moderation = NO_RULES,
) -> Bench:
    knowledge, jobs, tutor, search, tiers = MemoryKnowledge(), MemoryJobs(), ScriptedTutor(), FakeSearch(), FakeTiers()
    base, document = await shelved(knowledge, HERE.tenant, *texts)
    chunks = await knowledge.chunks_of(HERE.tenant, base.id, document.id)
    plans = layered_plans(questions, chunks, SIZES) if of_document else question_plans(questions)
    wanted = replace(job(), base=base.id, document=document.id if of_document else None)
    shares = AnswerShares(window=1000, answer=100, summary=50, question=60, background=300)
    generate = GenerateItem(
        sources=KnowledgeSources(knowledge, knowledge, search),
        queue=jobs,
        tutor=tutor,
        tiers=tiers,
        writers={"large": AnswerWriter(counter=WordCounter(), shares=shares)},
        moderation=desk,
    )
    added = await jobs.add(wanted, plans, None, limit=9)
    return Bench(knowledge, jobs, tutor, search, tiers, generate, base, document, added)


async def test_a_question_is_answered_from_what_was_found() -> None:
    on = await bench()
    outcome = await on.next()
    assert outcome == Answered(
        Answer("Hello there.", "stop", "large", "faq", fell_back=True, citations=FOUND.citations)
    )
    assert on.search.asked == [("Free?", 300)]
    assert FOUND.text in on.shown
    assert on.shown.endswith("Free?")
    assert GUIDANCE in on.request.messages[0].content


async def test_it_is_background_work_of_the_base_and_of_nobodys_session() -> None:
    on = await bench()
    await on.next()
    request = on.request
    assert request.is_background
    assert (str(request.session), request.tenant, request.model) == (str(on.base.id), HERE.tenant, "large")
    assert (request.turn, request.max_tokens, request.asker.trainee) == (1, 100, HERE.instructor)
    assert (str(request.asker.scenario), request.asker.scenario_version) == (str(on.base.id), 2)
    assert request.name.startswith("question-")
    assert str(on.job.id) in request.name


async def test_what_a_base_has_warmed_is_used_again() -> None:
    on = await bench()
    await on.next()
    assert on.request.last_replica is None
    await on.next()
    assert on.request.last_replica == "replica-1"


async def test_no_more_bases_are_remembered_than_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sessions.use_cases.generate_item._MOST_BASES", 1)
    on = await bench(questions=("One?", "Two?", "Three?"))
    await on.next()
    claim = await on.claim()
    other = await on.knowledge.add_base(replace(on.base, id=KnowledgeBaseId(uuid4()), name="other"))
    await on.generate(replace(claim, base=other.id))
    await on.next()
    assert on.request.last_replica is None


async def test_an_answer_that_was_cut_says_so() -> None:
    on = await bench()
    on.tutor.reason = "length"
    outcome = await on.next()
    assert isinstance(outcome, Answered)
    assert outcome.answer.finish_reason == "length"


async def test_a_reply_without_an_end_broke() -> None:
    on = await bench()
    on.tutor.reason = ""
    outcome = await on.next()
    assert isinstance(outcome, Troubled)
    assert outcome.error.code == "tutor_broke"


@pytest.mark.parametrize(
    ("trouble", "outcome", "code"),
    [
        (TutorUnavailable("none", retry_after_s=3.0), Troubled, "no_replica"),
        (TutorRejected("no"), Refused, "tutor_rejected"),
        (TutorBroke("cut"), Troubled, "tutor_broke"),
    ],
)
async def test_every_trouble_is_told_by_its_code(trouble: Exception, outcome: type[Outcome], code: str) -> None:
    on = await bench()
    on.tutor.refusal = trouble
    found = await on.next()
    assert isinstance(found, Troubled | Refused)
    assert (type(found), found.error.code) == (outcome, code)
    assert getattr(found, "pause_s", 0.0) == getattr(trouble, "retry_after_s", 0.0)


@pytest.mark.parametrize("trouble", [TutorFull("full", retry_after_s=7.0), TutorAbsent("none", retry_after_s=7.0)])
async def test_where_trainees_need_the_room_or_nobody_is_there_it_is_given_back(trouble: Exception) -> None:
    on = await bench()
    on.tutor.refusal = trouble
    assert await on.next() == GivenBack(7.0)


async def test_a_pool_that_may_not_be_left_is_waited_for() -> None:
    on = await bench()
    on.tiers.trouble = PoolUnavailable(tier="faq", model="large", retry_after_s=3.0)
    assert await on.next() == GivenBack(3.0)


async def test_a_reply_that_breaks_or_says_nothing_is_tried_again() -> None:
    on = await bench()
    for script, code in (((TutorBroke("cut"),), "tutor_broke"), ((" ", "\n"), "answer_empty")):
        on.tutor.script = script
        found = await on.next()
        assert isinstance(found, Troubled)
        assert found.error.code == code


@pytest.mark.parametrize(("question", "code"), [(" ", "text_empty"), ("word " * 61, "text_too_long")])
async def test_a_question_that_cannot_be_asked_is_refused(question: str, code: str) -> None:
    on = await bench(questions=(question,))
    found = await on.next()
    assert isinstance(found, Refused)
    assert found.error.code == code
    assert not on.tutor.requests


async def test_a_base_that_is_gone_ends_the_job() -> None:
    on = await bench()
    await on.knowledge.remove_base(HERE.tenant, on.base.id)
    found = await on.next()
    assert isinstance(found, Doomed)
    assert found.error.code == "knowledge_base_not_found"


async def test_a_document_that_is_replaced_ends_the_job() -> None:
    on = await bench("word " * 8, of_document=True)
    await put(on.knowledge, on.base, "Another text.")
    found = await on.next()
    assert isinstance(found, Doomed)
    assert found.error.code == "document_not_found"


async def test_a_base_that_cannot_be_searched_yet_is_not_answered_from() -> None:
    on = await bench()
    on.search.is_ready = False
    with pytest.raises(RecordsUnavailable):
        await on.next()
    assert not on.tutor.requests


async def test_a_short_document_stands_beside_the_question_as_it_is() -> None:
    on = await bench("Returns are free.", "Zebras too.", of_document=True)
    outcome = await on.next()
    assert isinstance(outcome, Answered)
    assert [cited.document for cited in outcome.answer.citations] == [on.document.id]
    assert "Returns are free." in on.shown
    assert not on.search.asked


async def test_a_long_document_is_condensed_layer_by_layer_and_then_asked() -> None:
    texts = [f"Chapter {number} is on returns. {'word ' * 8}" for number in range(1, 5)]
    on = await bench(*texts, questions=("Returns?",), of_document=True)
    assert [layer.total for layer in on.job.layers] == [4, 2, 1, 1]
    shown: list[str] = []
    for number in range(1, 8):
        claim = await on.claim()
        on.tutor.script = (f"Summary {number}",)
        outcome = await on.generate(claim)
        assert isinstance(outcome, Answered)
        assert (claim.plan.kind, on.request.max_tokens) == (ItemKind.SUMMARY, 50)
        await on.jobs.settle(claim, Ended(answer=outcome.answer), at=NOON)
        shown.append(on.shown)
    assert [f"Chapter {number}" in shown[number - 1] for number in range(1, 5)] == [True] * 4
    assert ("Summary 1" in shown[4], "Summary 2" in shown[4], "Summary 3" in shown[4]) == (True, True, False)
    assert ("Summary 3" in shown[5], "Summary 4" in shown[5]) == (True, True)
    assert ("Summary 5" in shown[6], "Summary 6" in shown[6]) == (True, True)
    on.tutor.script = ("Free.",)
    outcome = await on.next()
    assert isinstance(outcome, Answered)
    assert "[1] Returns\nSummary 7" in on.shown
    assert "Chapter 1 is on returns." in on.shown
    assert {cited.document for cited in outcome.answer.citations} == {on.document.id}


async def test_with_one_chapter_its_summary_is_the_overview() -> None:
    on = await bench("Returns are free. " + "word " * 9, questions=("Returns?",), of_document=True)
    assert [layer.total for layer in on.job.layers] == [1, 1]
    claim = await on.claim()
    await on.jobs.settle(claim, Ended(answer=Answer("All about returns.", "stop")), at=NOON)
    outcome = await on.next()
    assert isinstance(outcome, Answered)
    assert "[1] Returns\nAll about returns." in on.shown


async def test_a_blocked_question_is_refused_before_anything_is_searched_or_asked() -> None:
    on = await bench(questions=["the s.e.c.r.e.t"], desk=moderation(banned("secret")))
    outcome = await on.next()
    assert isinstance(outcome, Refused)
    assert (outcome.error.code, outcome.error.message) == (
        "question_blocked",
        "moderation stopped the question: banned_phrase",
    )
    assert (on.search.asked, on.tutor.requests) == ([], [])


async def test_a_masked_question_is_searched_for_and_asked_with_its_masks() -> None:
    on = await bench(questions=["Is the secret free?"], desk=moderation(banned("secret", action=Action.MASK)))
    assert isinstance(await on.next(), Answered)
    assert on.search.asked[0][0] == "Is the *** free?"
    assert "Is the *** free?" in on.shown
    assert "secret" not in on.shown


@pytest.mark.parametrize("size", range(1, 12))
async def test_a_blocked_answer_ends_the_generation_however_it_is_cut(size: int) -> None:
    on = await bench(desk=moderation(banned("secret word")))
    text = "It is the secret word, you see"
    on.tutor.script = [*(text[at : at + size] for at in range(0, len(text), size)), AssertionError("asked for more")]
    outcome = await on.next()
    assert isinstance(outcome, Refused)
    assert (outcome.error.code, outcome.error.message) == (
        "answer_blocked",
        "moderation stopped the answer: banned_phrase",
    )


async def test_a_phrase_that_ends_an_answer_blocks_it_too() -> None:
    on = await bench(desk=moderation(banned("secret word")))
    on.tutor.script = ["It is the secret ", "word"]
    outcome = await on.next()
    assert isinstance(outcome, Refused)
    assert outcome.error.code == "answer_blocked"


@pytest.mark.parametrize("messages", [True, False])
async def test_what_only_cannot_be_judged_now_is_tried_again(messages: bool) -> None:
    on = await bench(desk=unguarded(messages=messages))
    assert isinstance(await on.next(), GivenBack)


async def test_an_answer_has_its_masks() -> None:
    on = await bench(desk=moderation(banned("secret", action=Action.MASK)))
    on.tutor.script = ["a sec", "ret", " plan"]
    outcome = await on.next()
    assert isinstance(outcome, Answered)
    assert outcome.answer.text == "a *** plan"


async def test_an_item_waits_for_rules_that_cannot_be_read() -> None:
    on = await bench(desk=ModerationDesk(keeper=UnreadableRules(), scorer=InjectionScorer()))
    outcome = await on.next()
    assert isinstance(outcome, GivenBack)
    assert outcome.pause_s > 0
    assert on.tutor.requests == []


async def test_what_is_banned_of_a_document_is_neither_shown_nor_cited() -> None:
    desk = moderation(banned("secret word"), banned("thirty", action=Action.MASK, name="masked"))
    texts = ["Returns by secret word.", "Returns take thirty days."]
    on = await bench(*texts, questions=["Returns?"], of_document=True, desk=desk)
    outcome = await on.next()
    assert isinstance(outcome, Answered)
    assert "secret" not in on.shown
    assert "Returns take *** days." in on.shown
    assert [citation.chunk for citation in outcome.answer.citations] == [2]


async def test_a_document_of_which_nothing_may_be_shown_is_not_summarised() -> None:
    texts = ["secret word " * 4] * 4
    on = await bench(*texts, questions=["Returns?"], of_document=True, desk=moderation(banned("secret word")))
    outcome = await on.next()
    assert isinstance(outcome, Refused)
    assert outcome.error.code == "document_blocked"
    assert on.tutor.requests == []


async def test_an_overview_that_is_banned_now_is_left_out() -> None:
    keeper = FixedRules(live_rules())
    desk = ModerationDesk(keeper=keeper, scorer=InjectionScorer())
    on = await bench(*["word " * 8] * 4, of_document=True, desk=desk)
    on.tutor.script = ["A tale of a secret word."]
    while (claim := await on.claim()).plan.kind is ItemKind.SUMMARY:
        ended = await on.generate(claim)
        assert isinstance(ended, Answered)
        await on.jobs.settle(claim, Ended(answer=ended.answer), at=NOON)
    on.tutor.script = ["It is free."]
    await on.generate(claim)
    assert "secret word" in on.shown
    keeper.now = live_rules([banned("secret word")])
    assert isinstance(await on.generate(claim), Answered)
    assert "secret word" not in on.shown
