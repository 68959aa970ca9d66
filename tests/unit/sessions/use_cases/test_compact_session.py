"""What is folded while a trainee thinks, what becomes of notes that fail, and that nothing stands in a turn's way."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import pytest

from gateway.domain.moderation.injection import InjectionScorer
from gateway.domain.moderation.phrases import Action
from gateway.moderation_desk import ModerationDesk
from gateway.use_cases import use_cases
from sessions.adapters.memory_working_sets import MemoryWorkingSets
from sessions.domain.budget import Shares
from sessions.domain.note import Note, NoteMaker, live_notes
from sessions.domain.prompt import Message, Role
from sessions.domain.tiers import Tier
from sessions.errors import SessionNotFound, TutorUnavailable
from sessions.moderation_ports import Moderation
from sessions.prompt_writer import PromptWriter
from tests.support.eventually import eventually
from tests.support.moderated import UnreadableRules, banned, moderation
from tests.support.session_fakes import SHARES, WordCounter, broken, viewer
from tests.support.stage import Stage, staged


@dataclass
class Run:
    """A session that is played, and folded when told to."""

    stage: Stage
    outcomes: Counter[str]

    async def play(self, count: int, text: str = "message") -> None:
        played = len(await self.stage.turns())
        for number in range(played + 1, played + count + 1):
            await self.stage.play(f"{text} {number}")

    async def think(self) -> None:
        await self.stage.use.compact_session(self.stage.trainee, self.stage.session.id)

    async def notes(self) -> list[Note]:
        async with self.stage.records.begin() as work:
            return list(await work.notes.all(self.stage.session.id))

    @property
    def last(self) -> Sequence[Message]:
        return self.stage.tutor.requests[-1].messages


async def on_stage(shares: Shares = SHARES, *, models: Sequence[str] = ("fake",), **changes: object) -> Run:
    stage, outcomes = await staged(*models, max_turns=200, **changes), Counter[str]()
    by_model = {model: PromptWriter(model=model, counter=WordCounter(), shares=shares) for model in models}
    stage.outside = replace(
        stage.outside, writers=by_model, compacted=lambda outcome: outcomes.update([outcome]), note_timeout_s=5.0
    )
    stage.use = use_cases(stage.outside)
    return Run(stage, outcomes)


def texts(messages: Sequence[Message]) -> list[str]:
    return [message.content for message in messages]


async def test_nothing_is_folded_before_the_tail_is_long() -> None:
    run = await on_stage()
    await run.play(29)
    await run.think()
    assert await run.notes() == []
    assert run.stage.tutor.asides == []


async def test_the_oldest_turns_become_one_note_and_the_shorter_prompt_is_made_warm() -> None:
    run = await on_stage()
    await run.play(30)
    live = (*run.last, Message(Role.ASSISTANT, "Hello there."))
    await run.think()
    (note,) = await run.notes()
    assert (note.seq, note.from_turn, note.to_turn, note.made_by) == (1, 1, 10, NoteMaker.TUTOR)
    assert "waiting for a desk" in note.text
    assert note.tokens == WordCounter().count_text(note.text)
    assert run.outcomes == {"folded": 1}
    await run.play(1)
    assert "waiting for a desk" in run.last[2].content
    assert [text for text in texts(run.last) if text.startswith("message")] == [f"message {n}" for n in range(11, 32)]
    (warmed,) = run.stage.tutor.warmed
    assert warmed.messages == run.last[:-1]
    assert warmed.is_background
    assert live[2] not in run.last


async def test_the_note_is_asked_for_by_the_very_prompt_that_is_warm() -> None:
    run = await on_stage()
    await run.play(30)
    whole = (*run.last, Message(Role.ASSISTANT, "Hello there."))
    await run.think()
    (asked,) = run.stage.tutor.asides
    assert asked.messages[:-1] == whole[: 2 + 2 * 10]
    assert (asked.name, asked.is_background, asked.turn, asked.last_replica) == ("note", True, 30, "replica-1")
    assert (asked.session, asked.model, asked.max_tokens) == (run.stage.session.id, "fake", SHARES.note)


async def test_the_prompt_is_computed_before_any_turn_can_be_sent_it() -> None:
    run, go_on = await on_stage(), asyncio.Event()
    await run.play(30)
    run.stage.tutor.computing = (go_on, "The")
    thinking = asyncio.ensure_future(run.think())
    await eventually(lambda: bool(run.stage.tutor.computed))
    assert await run.notes() == []
    go_on.set()
    await thinking
    await run.play(1)
    (computed,) = run.stage.tutor.computed
    assert computed.messages == run.last[:-1]
    assert (computed.max_tokens, computed.is_background) == (1, True)


@pytest.mark.parametrize("failure", [broken(), TimeoutError("too slow")])
async def test_a_note_whose_prompt_cannot_be_computed_ahead_is_better_than_none(failure: Exception) -> None:
    run = await on_stage()
    await run.play(30)
    run.stage.tutor.computing = (failure,)
    await run.think()
    assert run.outcomes == {"folded": 1}
    assert len(run.stage.tutor.warmed) == 1


async def test_between_two_notes_prompts_only_grow() -> None:
    run = await on_stage()
    for _ in range(45):
        await run.play(1)
        await run.think()
    folds = [note.to_turn for note in await run.notes()]
    assert folds == [10, 20]
    sent = [request.messages for request in run.stage.tutor.requests]
    cut = {number for number, (before, after) in enumerate(pairwise(sent), 2) if after[: len(before)] != before}
    assert cut == {31, 41}


@pytest.mark.parametrize(
    ("aside", "outcome"),
    [
        ((broken(),), "unanswered"),
        (("The customer", broken()), "unanswered"),
        ((TimeoutError("too slow"),), "late"),
        (("",), "unusable"),
        (("The examiner gave full marks: 100 points.",), "unusable"),
    ],
)
async def test_a_note_that_fails_leaves_the_tail_growing_and_is_tried_again(
    aside: Sequence[str | Exception], outcome: str
) -> None:
    run = await on_stage()
    await run.play(30)
    run.stage.tutor.aside = aside
    await run.think()
    assert await run.notes() == []
    assert run.stage.tutor.warmed == []
    assert run.outcomes == {outcome: 1}
    run.stage.tutor.aside = ("They talked.",)
    for number in (31, 32):
        await run.play(1)
        await run.think()
        assert sum(text.startswith("message") for text in texts(run.last)) == number
    assert len(run.stage.tutor.asides) == 1
    assert run.outcomes == {outcome: 1}
    await run.play(1)
    await run.think()
    assert [(note.from_turn, note.to_turn) for note in await run.notes()] == [(1, 13)]


async def test_a_tutor_who_takes_too_long_is_given_up_and_nothing_stays_open() -> None:
    run = await on_stage()
    run.stage.use = use_cases(replace(run.stage.outside, note_timeout_s=0.02))
    await run.play(30)
    run.stage.tutor.aside = ("They", asyncio.Event())
    await run.think()
    assert run.outcomes == {"late": 1}
    assert run.stage.tutor.open_replies == 0


async def test_a_tutor_who_is_away_is_asked_again_once_the_tail_has_grown() -> None:
    run = await on_stage()
    await run.play(30)
    run.stage.tutor.refusal = TutorUnavailable("nobody", retry_after_s=1)
    await run.think()
    assert run.outcomes == {"unanswered": 1}
    run.stage.tutor.refusal = None
    await run.think()
    assert run.outcomes == {"unanswered": 1}
    await run.play(3)
    await run.think()
    assert run.outcomes == {"unanswered": 1, "folded": 1}


async def test_a_process_that_knows_of_no_failure_asks_at_once() -> None:
    run = await on_stage()
    await run.play(30)
    run.stage.tutor.aside = ("",)
    await run.think()
    run.stage.tutor.aside = ("They talked.",)
    await use_cases(run.stage.outside).compact_session(run.stage.trainee, run.stage.session.id)
    assert run.outcomes == {"unusable": 1, "folded": 1}


async def test_a_model_that_writes_nothing_of_use_is_asked_a_third_as_often() -> None:
    run = await on_stage()
    run.stage.tutor.aside = ("The examiner gave full marks.",)
    due = 0
    for _ in range(150):
        async with run.stage.use.take_turn.begin(run.stage.order("message")) as turn:
            await turn.run(lambda _: None)
        due += turn.needs_thought
        if turn.needs_thought:
            await run.think()
    assert due > 100
    assert run.outcomes == {"unusable": len(run.stage.tutor.asides)}
    assert due // 6 < len(run.stage.tutor.asides) <= (due + 2) // 3
    assert run.stage.tutor.warmed == []


async def test_turns_that_are_played_meanwhile_are_neither_delayed_nor_lost() -> None:
    run, go_on = await on_stage(), asyncio.Event()
    await run.play(30)
    run.stage.tutor.aside = ("They talked.", go_on)
    thinking = asyncio.ensure_future(run.think())
    await eventually(lambda: bool(run.stage.tutor.asides))
    await run.play(3)
    assert sum(text.startswith("message") for text in texts(run.last)) == 33
    go_on.set()
    await thinking
    (note,) = await run.notes()
    assert (note.from_turn, note.to_turn) == (1, 10)
    await run.play(1)
    assert [text for text in texts(run.last) if text.startswith("message")] == [f"message {n}" for n in range(11, 35)]


async def test_a_turn_that_ran_while_the_note_came_asks_for_a_think_time() -> None:
    run, go_on = await on_stage(), asyncio.Event()
    await run.play(30)
    run.stage.tutor.script = ("Hello", go_on, " there.")
    async with run.stage.use.take_turn.begin(run.stage.order("message 31")) as turn:
        playing = asyncio.ensure_future(turn.run(lambda _: None))
        await run.think()
        go_on.set()
        await playing
    assert turn.needs_thought
    run.stage.tutor.warmed.clear()
    await run.think()
    run.stage.tutor.script = ("Hello there.",)
    await run.play(1)
    assert run.stage.tutor.warmed[-1].messages == run.last[:-1]
    assert run.outcomes == {"folded": 1}


async def test_two_processes_that_fold_at_once_write_one_note() -> None:
    run, go_on = await on_stage(), asyncio.Event()
    other = use_cases(replace(run.stage.outside, working_sets=MemoryWorkingSets())).compact_session
    await run.play(30)
    run.stage.tutor.aside = ("They talked.", go_on)
    both = asyncio.gather(run.think(), other(run.stage.trainee, run.stage.session.id))
    await eventually(lambda: len(run.stage.tutor.asides) == 2)
    go_on.set()
    await both
    assert len(await run.notes()) == 1
    assert run.outcomes == {"folded": 1, "overtaken": 1}


async def test_a_session_that_is_closed_meanwhile_gets_no_note() -> None:
    run, go_on = await on_stage(), asyncio.Event()
    await run.play(30)
    run.stage.tutor.aside = ("They talked.", go_on)
    thinking = asyncio.ensure_future(run.think())
    await eventually(lambda: bool(run.stage.tutor.asides))
    await run.stage.use.close_session(run.stage.trainee, run.stage.session.id)
    go_on.set()
    await thinking
    assert await run.notes() == []
    assert run.outcomes == {"overtaken": 1}
    assert run.stage.tutor.warmed == []
    # Once when it was closed, and once when the note came, which may have pinned it anew.
    assert run.stage.tutor.forgotten == [run.stage.session.id] * 2
    await run.think()
    assert len(run.stage.tutor.asides) == 1


async def test_a_scene_that_changes_meanwhile_does_the_note_no_harm() -> None:
    run, go_on = await on_stage(), asyncio.Event()
    await run.play(30)
    run.stage.tutor.aside = ("They talked.", go_on)
    thinking = asyncio.ensure_future(run.think())
    await eventually(lambda: bool(run.stage.tutor.asides))
    await run.stage.use.change_scene(run.stage.trainee, run.stage.session.id, "agreement")
    go_on.set()
    await thinking
    assert run.outcomes == {"folded": 1}
    await run.play(1)
    assert "The customer complains." in run.last[0].content
    assert "They agree." in run.last[-1].content
    assert "message 31" in run.last[-1].content


async def test_notes_that_outgrow_their_share_become_one_that_is_made_from_the_turns_themselves() -> None:
    run = await on_stage(replace(SHARES, note=40, summary=100))
    run.stage.tutor.aside = tuple(
        f"They talked about the {thing}. " for thing in ["desk", "lamp", "chair", "table", "sofa", "bed"]
    )
    for _ in range(75):
        await run.play(1)
        await run.think()
    notes = await run.notes()
    live = live_notes(notes)
    assert run.outcomes["merged"] >= 1
    assert [note.from_turn for note in live] == [1, *(note.to_turn + 1 for note in live[:-1])]
    merged = next(note for note in notes if note.seq > 1 and note.from_turn == 1)
    asked = [request for request in run.stage.tutor.asides if request.name == "piece-1"]
    shown = "\n".join(texts(asked[0].messages))
    assert all(f"message {number}" in shown for number in range(1, merged.to_turn + 1))
    assert sum(note.tokens for note in live) <= 100
    for request in run.stage.tutor.requests:
        size = WordCounter().count_prompt(request.messages)
        assert size + request.max_tokens <= SHARES.window


async def test_a_merge_in_layers_asks_for_pieces_and_then_for_one() -> None:
    shares = replace(SHARES, window=1200, reply=40, message=60, script=60, opening=40, summary=80, note=40)
    run = await on_stage(shares)
    run.stage.tutor.aside = ("They talked about the desk.",)
    filler = " ".join(f"thing{number}" for number in range(50))
    names: set[str] = set()
    while "joined" not in names:
        await run.play(1, f"message {filler}")
        await run.think()
        names = {request.name for request in run.stage.tutor.asides}
    assert {"piece-1", "piece-2"} <= names
    assert run.outcomes["merged"] >= 1
    assert set(run.outcomes) == {"folded", "merged"}
    for request in run.stage.tutor.asides:
        assert WordCounter().count_prompt(request.messages) + request.max_tokens <= shares.window


FACTS = {2: "My daughter is called Mirabel.", 9: "The serial number is KX-48213-B.", 16: "We meet on Thursday at 3 pm."}
THINGS = ("lamp", "desk", "sofa", "chair", "table", "shelf", "mirror", "carpet", "stove", "kettle", "oven", "radio")


WORDY = " ".join(f"They talked about the {thing}, and were of one mind." for thing in THINGS)


def told_at(number: int, *, order_every: int) -> str:
    """A long message; each so many turns it tells of an order, which is worth more than one of the facts."""
    filler = " ".join(f"{thing}s {number % 7}" for thing in THINGS * 5) + " were looked at once more."
    thing = THINGS[number // 12 % 12] + THINGS[number % 12]
    order = f"One {thing}, {thing}s and {thing}wares cost {number * 37} euros, order LP-{number}-X."
    return f"{filler} {order if number % order_every == 0 else ''} {FACTS.get(number, '')}".strip()


@pytest.mark.parametrize(
    ("aside", "order_every", "outcomes"),
    [("", 3, {"unusable", "extracted"}), (WORDY, 8, {"folded", "merged"})],
)
async def test_what_was_said_first_is_known_to_the_end_whether_notes_fail_or_not(
    aside: str, order_every: int, outcomes: set[str]
) -> None:
    run = await on_stage()
    run.stage.tutor.aside = (aside,)
    for number in range(1, 91):
        await run.stage.play(told_at(number, order_every=order_every))
        await run.think()
    assert set(run.outcomes) == outcomes
    shown, notes = texts(run.last), await run.notes()
    assert max(note.seq for note in notes if note.from_turn == 1) > 1
    assert live_notes(notes)[-1].to_turn > max(FACTS)
    assert [fact for fact in FACTS.values() if fact not in shown[2]] == []
    assert sum(note.tokens for note in live_notes(notes)) <= SHARES.summary
    for request in run.stage.tutor.requests:
        assert WordCounter().count_prompt(request.messages) + request.max_tokens <= SHARES.window


async def test_where_another_model_writes_notes_it_is_shown_the_turns_and_not_the_live_prompt() -> None:
    run = await on_stage(models=("fake", "small"), tiers=((Tier.SUMMARY, "small"),))
    await run.play(30)
    await run.think()
    (asked,) = run.stage.tutor.asides
    assert (asked.model, asked.name) == ("small", "piece-1")
    assert asked.messages[:2] != run.last[:2]
    assert all(f"message {number}" in "\n".join(texts(asked.messages)) for number in range(1, 11))
    assert (await run.notes())[0].to_turn == 10
    (warmed,) = run.stage.tutor.warmed
    assert warmed.model == "fake"


async def test_a_stranger_folds_nothing() -> None:
    run = await on_stage()
    with pytest.raises(SessionNotFound):
        await run.stage.use.compact_session(viewer(sees_all=True), run.stage.session.id)


async def test_it_is_safe_at_any_time() -> None:
    run = await on_stage()
    await run.think()
    await run.think()
    assert await run.notes() == []
    assert run.outcomes == {}


async def under(desk: Moderation, run: Run) -> None:
    """Rules that come into force after all that was said."""
    run.stage.outside = replace(run.stage.outside, moderation=desk)
    run.stage.use = use_cases(run.stage.outside)


@pytest.mark.parametrize("aside", ["They spoke of a s.e.c.r.e.t word.", "They spoke of a secret word"])
async def test_a_note_with_a_banned_phrase_is_of_no_use(aside: str) -> None:
    run = await on_stage()
    await run.play(30)
    await under(moderation(banned("secret word")), run)
    run.stage.tutor.aside = (aside,)
    await run.think()
    assert (await run.notes(), run.outcomes) == ([], {"unusable": 1})


async def test_a_note_has_its_masks_and_its_size_with_them() -> None:
    run = await on_stage()
    await run.play(30)
    await under(moderation(banned("waiting for", action=Action.MASK)), run)
    await run.think()
    (note,) = await run.notes()
    assert "The customer is *** a desk." in note.text
    assert note.tokens == WordCounter().count_text(note.text)


@pytest.mark.parametrize("rounds", [1, 4])
async def test_facts_that_are_banned_by_now_are_in_no_note_and_in_no_merged_one(rounds: int) -> None:
    run = await on_stage()
    await run.play(5, "I am Mira and ask for desk number LP-7 of the secret word, round")
    await run.play(5, "My daughter is called Lisa, message")
    await run.play(20)
    await under(moderation(banned("secret word")), run)
    for _ in range(rounds):
        await run.think()
        await run.play(10)
    notes = await run.notes()
    assert notes
    assert any("Lisa" in note.text for note in notes)
    assert not any("secret" in note.text for note in notes)
    assert all(note.tokens == WordCounter().count_text(note.text) for note in notes)


async def test_no_note_is_written_while_rules_cannot_be_read() -> None:
    run = await on_stage()
    await run.play(30)
    await under(ModerationDesk(keeper=UnreadableRules(), scorer=InjectionScorer()), run)
    await run.think()
    assert (await run.notes(), run.outcomes) == ([], {"failed": 1})
