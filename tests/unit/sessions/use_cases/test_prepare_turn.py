"""What is ready before the tutor is asked: room for the message, the history at hand, the background that was found."""

from collections import Counter
from dataclasses import dataclass, field, replace
from uuid import UUID

import pytest
from typing_extensions import override

from gateway.domain.moderation.injection import InjectionScorer
from gateway.moderation_desk import ModerationDesk
from gateway.use_cases import use_cases
from sessions.adapters.memory_knowledge import MemoryKnowledge
from sessions.adapters.memory_working_sets import MemoryWorkingSets
from sessions.domain.citation import Background, Citation, DocumentId, KnowledgeBaseId
from sessions.domain.note import Note, NoteMaker
from sessions.domain.session import Session
from sessions.domain.viewer import TenantId
from sessions.errors import TextTooLong
from sessions.moderation_ports import Rules
from sessions.ports import KnowledgeSearch
from sessions.use_cases.create_knowledge_base import CreateKnowledgeBase
from sessions.use_cases.note_book import NoteBook, NoteDraft
from sessions.use_cases.prepare_turn import PreparedTurn, TurnPreparation
from sessions.use_cases.served_models import ServedModels
from sessions.use_cases.session_histories import SessionHistories
from sessions.use_cases.start_session import SessionOrder
from tests.support.moderated import FixedRules, banned, live_rules, moderation
from tests.support.session_fakes import SHARES, WordCounter, content, writers
from tests.support.stage import Stage, staged

CITED = Citation(DocumentId(UUID(int=8)), "terms.md", 3, "Returns", 7.25)
LONG = " ".join(f"word{number}" for number in range(150))


async def notes_of(stage: Stage) -> list[Note]:
    async with stage.records.begin() as work:
        return list(await work.notes.all(stage.session.id))


async def until_overdue(stage: Stage) -> int:
    """Play long turns until one is folded on the trainee's path; how many it took."""
    for number in range(1, 60):
        await stage.play(f"message {number} {LONG}")
        if await notes_of(stage):
            return number
    raise AssertionError("nothing was ever folded")


async def test_without_any_think_time_an_extract_makes_room_and_the_tutor_is_asked_once_a_turn() -> None:
    outcomes = Counter[str]()
    stage = await staged(max_turns=200)
    stage.use = use_cases(replace(stage.outside, compacted=lambda outcome: outcomes.update([outcome])))
    number = await until_overdue(stage)
    (note,) = await notes_of(stage)
    assert (note.from_turn, note.made_by) == (1, NoteMaker.EXTRACT)
    assert note.to_turn < number
    assert note.tokens == WordCounter().count_text(note.text) <= SHARES.note
    assert outcomes == {"extracted": 1}
    assert len(stage.tutor.requests) == number
    assert stage.tutor.asides == []
    sent = stage.tutor.requests[-1]
    assert note.text.splitlines()[0] in sent.messages[2].content
    assert WordCounter().count_prompt(sent.messages) + sent.max_tokens <= SHARES.window
    for _ in range(20):
        await stage.play(f"message {LONG}")
    assert all(
        WordCounter().count_prompt(request.messages) + request.max_tokens <= SHARES.window
        for request in stage.tutor.requests
    )


class NoteFirst(NoteBook):
    """Before each of the first notes here is written, another process writes one of the same turns."""

    times = 1

    @override
    async def add(self, session: Session, draft: NoteDraft) -> Note:
        if self.times > 0:
            self.times -= 1
            await super().add(session, replace(draft, text="the other one's note", made_by=NoteMaker.TUTOR))
        return await super().add(session, draft)


def preparation(stage: Stage, *, times: int) -> TurnPreparation:
    notes = NoteFirst(records=stage.records, clock=stage.clock, told=lambda _: None)
    notes.times = times
    return TurnPreparation(
        records=stage.records,
        histories=SessionHistories(records=stage.records, working_sets=MemoryWorkingSets()),
        models=ServedModels(tiers=stage.tiers, writers=writers()),
        notes=notes,
        knowledge=None,
        moderation=moderation(),
    )


async def overdue_stage() -> Stage:
    """A stage whose next long message has no room."""
    stage = await staged(max_turns=200)
    number = await until_overdue(stage)
    again = await staged(max_turns=200)
    for one in range(1, number):
        await again.play(f"message {one} {LONG}")
    assert await notes_of(again) == []
    return again


async def test_a_note_that_came_first_makes_the_room_as_well() -> None:
    stage = await overdue_stage()
    prepared = await preparation(stage, times=1)(stage.order(f"message {LONG}"))
    assert isinstance(prepared, PreparedTurn)
    (note,) = await notes_of(stage)
    assert note.text == "the other one's note"
    assert prepared.history.notes == (note,)
    assert prepared.session.note_count == 1
    assert "the other one's note" in prepared.written.prompt.messages[2].content


async def test_what_is_banned_now_enters_no_note_of_turns_that_said_it_before() -> None:
    plain, ruled = await overdue_stage(), await overdue_stage()
    banned_now = FixedRules(live_rules(output=[banned("word149")]))
    desk = ModerationDesk(keeper=banned_now, scorer=InjectionScorer())
    ruled.use = use_cases(replace(ruled.outside, moderation=desk))
    for stage in (plain, ruled):
        await stage.play(f"words {LONG}")
    (told,), (note,) = await notes_of(plain), await notes_of(ruled)
    assert "word149" in told.text
    assert "word149" not in note.text
    assert "word20" in note.text


async def test_the_history_is_read_once_and_then_at_hand() -> None:
    sets = MemoryWorkingSets()
    stage = await staged()
    stage.use = use_cases(replace(stage.outside, working_sets=sets))
    await stage.play("first")
    async with stage.records.begin() as work:
        row = await work.sessions.get(stage.trainee, stage.session.id)
    assert row is not None
    kept = await sets.get(row)
    assert kept is not None
    assert [turn.text for turn in kept.turns] == ["first"]
    await stage.play("second")
    with_sets = stage.tutor.requests[-1].messages
    sets.clear()
    await stage.play("third")
    assert stage.tutor.requests[-1].messages[: len(with_sets)] == with_sets


@dataclass
class FakeSearch(KnowledgeSearch):
    found: Background
    asked: list[tuple[TenantId, KnowledgeBaseId, str, int]] = field(default_factory=list)

    @override
    async def find(
        self, tenant: TenantId, base: KnowledgeBaseId, question: str, *, budget_tokens: int, rules: Rules
    ) -> Background:
        self.asked.append((tenant, base, question, budget_tokens))
        return self.found


async def test_what_was_found_stands_before_the_message_and_never_in_history() -> None:
    search = FakeSearch(Background("Desks may be returned.", 4, (CITED,)))
    stage, library = await staged(), MemoryKnowledge()
    base, _ = await CreateKnowledgeBase(library=library, clock=stage.clock)(stage.author, "terms")
    stage.use = use_cases(replace(stage.outside, knowledge=search, catalogue=library))
    scenario = await stage.use.create_scenario(stage.author, content(knowledge_base=base.id))
    stage.session = await stage.use.start_session(SessionOrder(stage.trainee, scenario.id, {}))
    turn = await stage.play("May I return it?")
    assert search.asked == [(stage.session.tenant, base.id, "May I return it?", search.asked[0][3])]
    assert 0 < search.asked[0][3] <= SHARES.knowledge
    current = stage.tutor.requests[-1].messages[-1].content
    assert current.index("Desks may be returned.") < current.index("May I return it?")
    assert turn.citations == (CITED,)
    search.found = Background()
    second = await stage.play("Thank you.")
    assert second.citations == ()
    assert "Desks may be returned." not in str(stage.tutor.requests[-1].messages)


async def test_a_scenario_without_a_knowledge_base_looks_nothing_up() -> None:
    search = FakeSearch(Background("Desks may be returned.", 4, (CITED,)))
    stage = await staged()
    stage.use = use_cases(replace(stage.outside, knowledge=search))
    assert (await stage.play()).citations == ()
    assert search.asked == []


async def test_a_turn_says_its_scene_its_model_and_its_kind_of_work() -> None:
    stage = await staged()
    first = await stage.play()
    assert (first.scene, first.model, first.tier, first.fell_back) == ("complaint", "fake", "role_play", False)
    assert stage.tutor.requests[-1].model == "fake"
    await stage.use.change_scene(stage.trainee, stage.session.id, "agreement")
    assert (await stage.play()).scene == "agreement"


async def test_a_message_that_has_no_room_even_then_is_refused_before_anybody_is_asked() -> None:
    stage = await staged()
    with pytest.raises(TextTooLong):
        await stage.play("word " * 5000)
    assert stage.tutor.requests == []
    assert await notes_of(stage) == []
