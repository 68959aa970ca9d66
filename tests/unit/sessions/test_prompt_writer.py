"""Prompts keep to their window, whatever the talk was."""

import time
from dataclasses import dataclass, field, replace
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from sessions.domain.budget import Shares
from sessions.domain.citation import Background, KnowledgeBaseId
from sessions.domain.compaction import Fold, Marks, Merge
from sessions.domain.context import BlockKind
from sessions.domain.history import History, history, with_note, with_turn
from sessions.domain.note import Note, NoteMaker
from sessions.domain.scenario import ScenarioContent, Scene
from sessions.domain.session import Session, State
from sessions.domain.turn import Turn, TurnState
from sessions.errors import ScenarioInvalid, TextEmpty, TextTooLong
from sessions.prompt_writer import PromptWriter
from tests.support.session_fakes import SHARES, START, WordCounter, a_session, content, writer

SESSION = a_session()
BASE = KnowledgeBaseId(uuid4())
TIGHT = Shares(window=1500, reply=100, message=200, script=120, opening=60, summary=100, note=40, knowledge=120)
STEPS = st.lists(
    st.tuples(
        st.integers(1, 200),
        st.integers(0, 100),
        st.sampled_from([TurnState.COMPLETED, TurnState.COMPLETED, TurnState.CANCELLED, TurnState.FAILED]),
        st.sampled_from(["complaint", "complaint", "complaint", "agreement"]),
        st.integers(0, 150),
    ),
    max_size=40,
)


def turn(number: int, message: int, reply: int, state: TurnState = TurnState.COMPLETED, scene: str = "") -> Turn:
    return Turn(
        session=SESSION.id,
        number=number,
        state=state,
        text="m " * message,
        reply="r " * reply,
        started_at=START,
        ended_at=START,
        text_tokens=message,
        reply_tokens=reply,
        scene=scene,
    )


def a_note(seq: int, from_turn: int, to_turn: int, text: str) -> Note:
    return Note(SESSION.id, seq, from_turn, to_turn, text, len(text.split()), NoteMaker.EXTRACT, 1, START)


def told(turns: int, *, message: int = 20, reply: int = 20) -> History:
    return history([], [turn(number, message, reply) for number in range(1, turns + 1)])


@dataclass
class Played:
    """A session played through the writer as a use case would."""

    writer: PromptWriter
    content: ScenarioContent
    session: Session = SESSION
    known: History = field(default_factory=History)
    every: tuple[Turn, ...] = ()
    seq: int = 0

    def note(self, fold: Fold | Merge) -> None:
        self.seq += 1
        covered = [one for one in self.every if fold.from_turn <= one.number <= fold.to_turn]
        text = self.writer.notes.extract(self.content, covered, limit=self.writer.note_limit(self.known, fold))
        self.known = with_note(self.known, a_note(self.seq, fold.from_turn, fold.to_turn, text))

    def take(self, number: int, step: tuple[int, int, TurnState, str, int]) -> None:
        message, reply, state, scene, found = step
        self.session = replace(self.session, scene=scene)
        text = "now " * message
        fold = self.writer.overdue(self.session, self.content, self.known, text)
        if fold is not None:
            self.note(fold)
        room = self.writer.knowledge_room(self.session, self.content, self.known, text)
        background = Background("k " * min(found, room), found)
        written = self.writer.write(self.session, self.content, self.known, text, background)
        self.check(written.prompt.messages, written.prompt_tokens, written.max_tokens)
        assert written.background == background
        ended = turn(number, message, reply, state, scene)
        self.every, self.known = (*self.every, ended), with_turn(self.known, ended)
        due = self.writer.due(self.session, self.content, self.known)
        if due is not None:
            self.note(due)
        merge = self.writer.merge_due(self.content, self.known)
        if merge is not None:
            self.note(merge)

    def check(self, messages: object, size: int, most: int) -> None:
        assert size == WordCounter().count_prompt(messages)  # type: ignore[arg-type]  # it takes what is there
        assert size + most <= TIGHT.window
        assert most == TIGHT.reply
        assert sum(note.tokens for note in self.known.notes) <= TIGHT.summary


@settings(max_examples=150, deadline=None)
@given(STEPS, st.booleans())
def test_no_mix_of_turns_notes_scenes_and_background_outgrows_the_window(
    steps: list[tuple[int, int, TurnState, str, int]], looks_up: bool
) -> None:
    scenes = (Scene("complaint", "s " * 30), Scene("agreement", "s " * 90))
    scenario = content(scenes=scenes, max_turns=200, knowledge_base=BASE if looks_up else None)
    played = Played(PromptWriter(model="fake", counter=WordCounter(), shares=TIGHT), scenario)
    for number, step in enumerate(steps, start=1):
        played.take(number, step)
    assert played.known == history(played.known.notes, played.every)


@pytest.mark.parametrize(("text", "refusal"), [(" ", TextEmpty), ("w " * 201, TextTooLong)])
def test_a_message_is_measured_before_anything_else(text: str, refusal: type[Exception]) -> None:
    with pytest.raises(refusal):
        writer().message_tokens(text)
    with pytest.raises(refusal):
        writer().write(SESSION, content(), History(), text)
    with pytest.raises(refusal):
        writer().overdue(SESSION, content(), History(), text)


@dataclass
class Greedy(WordCounter):
    """Remembers the longest text it had to count."""

    longest: int = 0

    @override
    def count_text(self, text: str) -> int:
        self.longest = max(self.longest, len(text))
        return super().count_text(text)


@pytest.mark.parametrize("text", ["w " * 100_000, "w" + " " * 200_000 + "w"])
def test_of_a_text_that_is_far_too_long_only_the_beginning_is_counted(text: str) -> None:
    counter = Greedy()
    of_greedy = PromptWriter(model="fake", counter=counter, shares=SHARES)
    with pytest.raises(TextTooLong) as refused:
        of_greedy.message_tokens(text)
    assert refused.value.tokens > refused.value.limit == SHARES.message
    with pytest.raises(ScenarioInvalid, match="at most 500"):
        of_greedy.checked(content(persona=text))
    assert counter.longest <= 16 * max(SHARES.script, 500)


def test_control_strings_are_counted_as_they_will_stand_in_the_prompt() -> None:
    assert writer().count("<|im_start|>system") == writer().count("< |im_start|>system") == 2
    assert writer().count("RECORD>>>") == 2


def test_a_scenario_may_shorten_replies() -> None:
    assert writer().write(SESSION, content(max_reply_tokens=7), History(), "hello").max_tokens == 7


def test_a_scenario_that_looks_things_up_must_leave_room_for_the_talk() -> None:
    tight = PromptWriter(model="fake", counter=WordCounter(), shares=replace(TIGHT, knowledge=160))
    assert tight.checked(content(knowledge_base=BASE)).knowledge_base == BASE
    long = (Scene("complaint", "s"), Scene("agreement", "s " * 120))
    persona = "You " * 490
    assert tight.checked(content(persona=persona, scenes=long)).persona == persona
    with pytest.raises(ScenarioInvalid, match="knowledge 160") as refused:
        tight.checked(content(persona=persona, scenes=long, knowledge_base=BASE))
    assert refused.value.field == "knowledge_base"


def test_a_tail_that_was_not_folded_is_refused_and_not_cut() -> None:
    with pytest.raises(TextTooLong) as refused:
        writer().write(SESSION, content(), told(30, message=100, reply=100), "hello")
    assert refused.value.limit == SHARES.window - 1


def test_background_without_room_is_left_out_and_said_to_be() -> None:
    known = told(18, message=100, reply=94)
    found = Background("k " * 400, 400)
    written = writer().write(SESSION, content(knowledge_base=BASE), known, "hello", found)
    assert (written.background.text, written.max_tokens) == ("", SHARES.reply)
    roomy = writer().write(SESSION, content(knowledge_base=BASE), History(), "hello", found)
    assert roomy.background == found
    assert "k k k" in roomy.prompt.messages[-1].content


def test_nothing_is_folded_when_no_turn_will_come() -> None:
    known = told(30)
    assert writer().due(SESSION, content(), known) == Fold(1, 10)
    assert writer().due(SESSION, content(max_turns=30), known) is None
    assert writer().due(replace(SESSION, state=State.CLOSED), content(), known) is None


def test_notes_without_room_for_one_more_are_merged_before_anything_is_folded() -> None:
    notes = [a_note(1, 1, 10, "n " * 200), a_note(2, 11, 20, "n " * 200)]
    known = history(notes, [turn(number, 20, 20) for number in range(1, 51)])
    assert writer().due(SESSION, content(max_turns=60), known) is None
    assert writer().merge_due(content(max_turns=60), known) == Merge(1, 20)
    assert writer().merge_due(content(max_turns=50), known) is None
    assert writer().due(SESSION, content(max_turns=70), replace(known, notes=known.notes[:1])) is not None


def test_an_overdue_fold_replaces_notes_that_have_no_room_for_one_more() -> None:
    turns = [turn(number, 100, 90) for number in range(1, 40)]
    one = history([a_note(1, 1, 20, "n " * 200)], turns)
    fold = writer().overdue(SESSION, content(), one, "now " * 150)
    assert fold is not None
    assert fold.from_turn == 21
    two = history([a_note(1, 1, 10, "n " * 200), a_note(2, 11, 20, "n " * 200)], turns)
    fold = writer().overdue(SESSION, content(), two, "now " * 150)
    assert fold is not None
    assert fold.from_turn == 1


def test_a_note_that_replaces_others_may_be_larger() -> None:
    turns = [turn(number, 100, 90) for number in range(1, 40)]
    known = history([a_note(1, 1, 10, "n " * 200), a_note(2, 11, 20, "n " * 200)], turns)
    assert writer().note_limit(known, Fold(21, 30)) == SHARES.note
    assert writer().note_limit(known, Fold(1, 30)) == SHARES.summary - SHARES.note


def test_turns_that_another_model_counted_are_counted_again() -> None:
    light = [replace(turn(number, 100, 90), text_tokens=1, reply_tokens=1) for number in range(1, 28)]
    assert writer().due(SESSION, content(), history([], light)) is None
    foreign = [replace(one, model="other") for one in light]
    assert writer().due(SESSION, content(), history([], foreign)) is not None


def test_the_marks_are_settings() -> None:
    few = PromptWriter(model="fake", counter=WordCounter(), shares=SHARES, marks=Marks(low=2, high=5))
    assert few.due(SESSION, content(), told(5)) == Fold(1, 3)


def test_the_prefix_is_the_next_prompt_without_its_message() -> None:
    known = told(3)
    prefix = writer().prefix(SESSION, content(), known)
    written = writer().write(SESSION, content(), known, "hello")
    assert prefix.prompt.messages == written.prompt.messages[:-1]
    assert prefix.max_tokens == 1


def test_background_may_take_its_share_where_the_talk_leaves_it() -> None:
    looking = content(knowledge_base=BASE)
    full = writer().knowledge_room(SESSION, looking, History(), "hello")
    assert 0 < full < SHARES.knowledge
    assert writer().knowledge_room(SESSION, content(), History(), "hello") == 0
    crowded = told(15, message=100, reply=94)
    less = writer().knowledge_room(SESSION, looking, crowded, "hello")
    assert 0 < less < full
    assert writer().knowledge_room(SESSION, looking, told(20, message=100, reply=94), "hello") == 0


def test_the_context_names_every_block() -> None:
    turns = [turn(number, 20, 20) for number in range(1, 32)]
    known = history([a_note(1, 1, 10, "They spoke of a desk.")], turns)
    context = writer().explain(SESSION, content(knowledge_base=BASE), known)
    assert [(block.kind, block.from_turn, block.to_turn) for block in context.blocks] == [
        (BlockKind.SYSTEM, None, None),
        (BlockKind.SCRIPT, None, None),
        (BlockKind.OPENING, None, None),
        (BlockKind.SUMMARY, 1, 10),
        (BlockKind.TURNS, 11, 31),
        (BlockKind.KNOWLEDGE, None, None),
    ]
    assert "They spoke of a desk." in context.summary
    standing = sum(block.tokens for block in context.blocks if block.kind is not BlockKind.KNOWLEDGE)
    assert 0 <= context.prompt_tokens - standing <= 2 + 2 * 4
    assert context.blocks[-1].tokens == SHARES.knowledge
    assert context.messages == writer().prefix(SESSION, content(), known).prompt.messages


def test_what_the_next_message_may_take_is_what_folds_nothing() -> None:
    known = told(18, message=90, reply=85)
    available = writer().explain(SESSION, content(), known).available_tokens
    assert 0 < available < SHARES.message
    assert writer().overdue(SESSION, content(), known, "w " * available) is None
    assert writer().overdue(SESSION, content(), known, "w " * (available + 1)) is not None


def test_a_long_session_costs_little_beyond_counting() -> None:
    known = told(50, message=10, reply=10)
    of_session = writer(replace(SHARES, window=8192))
    of_session.write(SESSION, content(), known, "hello")
    started = time.perf_counter()
    for _ in range(20):
        of_session.overdue(SESSION, content(), known, "hello")
        of_session.write(SESSION, content(), known, "hello")
    assert (time.perf_counter() - started) / 20 < 0.01  # a quiet machine takes a twentieth of it
