"""How a turn that has begun comes to its end, and what is written of it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest
from typing_extensions import override

from gateway.domain.moderation.phrases import Action
from gateway.use_cases import use_cases
from sessions.domain.moderation import BlockReason, Judgement, Moderated
from sessions.domain.outline import Outline, Point
from sessions.domain.scenario import ScenarioId
from sessions.domain.turn import Turn, TurnState, Usage
from sessions.domain.viewer import TenantId
from sessions.moderation_ports import Moderation, ReplyCheck, Rules
from sessions.use_cases.open_turn import Stop
from tests.support.evasions import cuts
from tests.support.moderated import banned, moderation
from tests.support.session_fakes import Handover, broken
from tests.support.stage import Stage, staged


async def test_what_is_released_is_what_is_stored() -> None:
    stage, released = await staged(), list[str]()
    stage.tutor.script = ("He", "llo", " – ", "再见", "")
    async with stage.use.take_turn.begin(stage.order()) as turn:
        stored = await turn.run(released.append)
    assert "".join(released) == stored.reply == "Hello – 再见"


async def test_a_reply_without_text_is_a_turn_that_the_tutor_forgets() -> None:
    stage = await staged()
    stage.tutor.script = ()
    turn = await stage.play("first")
    assert (turn.state, turn.reply, turn.timings.ttft_ms) == (TurnState.COMPLETED, "", None)
    await stage.play("second")
    assert not any("first" in message.content for message in stage.tutor.requests[-1].messages)


async def test_a_reply_that_was_taken_over_names_where_it_ended() -> None:
    stage = await staged()
    stage.tutor.script = ("Hel", Handover("replica-2"), "lo.")
    turn = await stage.play()
    assert (turn.state, turn.reply, turn.replica, turn.continued) == (TurnState.COMPLETED, "Hello.", "replica-2", True)
    stage.tutor.script = ("Bye.",)
    assert not (await stage.play()).continued
    assert stage.tutor.requests[-1].last_replica == "replica-2"


async def test_a_stop_after_the_end_changes_nothing() -> None:
    stage = await staged()
    async with stage.use.take_turn.begin(stage.order()) as turn:
        stored = await turn.run(lambda _: None)
        turn.stop(Stop.CANCELLED)
    assert stored.state is TurnState.COMPLETED


async def test_a_shutdown_stores_what_there_was_and_asks_to_try_again() -> None:
    stage = await staged()
    stage.tutor.script = ("Hel", asyncio.Event())
    async with stage.use.take_turn.begin(stage.order()) as turn:
        stored = await turn.run(lambda _: turn.stop(Stop.SHUTDOWN))
    assert (stored.state, stored.reply) == (TurnState.FAILED, "Hel")
    assert stored.error is not None
    assert stored.error.retryable
    assert await stage.turns() == [stored]


async def moderated(*phrases: str, action: Action = Action.BLOCK, **changes: object) -> Stage:
    stage = await staged(**changes)
    stage.use = use_cases(replace(stage.outside, moderation=moderation(banned(*phrases, action=action))))
    return stage


async def played(stage: Stage, *script: object) -> tuple[Turn, str]:
    """The turn as it was stored, and what was released of it."""
    stage.tutor.script = script  # type: ignore[assignment]  # what a tutor's script may hold
    released: list[str] = []
    async with stage.use.take_turn.begin(stage.order()) as turn:
        await turn.run(released.append)
    return (await stage.turns())[-1], "".join(released)


@pytest.mark.parametrize("pieces", list(cuts("Well, free money for all.")))
async def test_a_banned_phrase_ends_the_reply_before_its_first_letter_wherever_it_is_cut(pieces: list[str]) -> None:
    stage = await moderated("free money")
    turn, released = await played(stage, *pieces)
    assert (turn.state, turn.reply, released) == (TurnState.BLOCKED, "Well, ", "Well, ")
    assert (turn.finish_reason, turn.error) == (None, None)
    assert turn.moderation.blocked is BlockReason.BANNED_PHRASE
    assert [(mark.rule, mark.start, mark.end) for mark in turn.moderation.marks] == [("r0", 6, 16)]


async def test_the_engine_is_stopped_before_the_row_is_written() -> None:
    stage = await moderated("free money")
    stage.tutor.script = ("free money.", asyncio.Event())
    begin, running = stage.records.begin, list[int]()

    @asynccontextmanager
    async def watched(tenant: TenantId | None = None) -> AsyncIterator[object]:
        running.append(stage.tutor.open_replies)
        async with begin(tenant) as work:
            yield work

    async with stage.use.take_turn.begin(stage.order()) as turn:
        assert stage.tutor.open_replies == 1
        stage.records.begin = watched  # type: ignore[method-assign, assignment]  # the same, looked at
        await turn.run(lambda _: None)
    assert running == [0]


async def test_a_reply_that_ends_with_the_beginning_of_a_phrase_ends_whole() -> None:
    stage = await moderated("free money")
    turn, released = await played(stage, "All is fr", "ee")
    assert (turn.state, turn.reply, released, turn.finish_reason) == (
        *(TurnState.COMPLETED, "All is free", "All is free"),
        "stop",
    )


async def test_a_phrase_that_only_the_end_makes_certain_blocks_and_keeps_what_the_engine_counted() -> None:
    stage = await moderated("cat")
    turn, released = await played(stage, "a", " cat")
    assert (turn.state, turn.reply, released) == (TurnState.BLOCKED, "a ", "a ")
    assert turn.usage == Usage(50, 40, 2)


@pytest.mark.parametrize("end", [broken(), Stop.CANCELLED, Stop.SHUTDOWN])
async def test_what_is_held_when_a_reply_does_not_end_is_dropped(end: object) -> None:
    stage, released = await moderated("free money"), list[str]()
    stage.tutor.script = ("Well, fr", end if isinstance(end, Exception) else asyncio.Event())
    async with stage.use.take_turn.begin(stage.order()) as turn:

        def release(text: str) -> None:
            released.append(text)
            if isinstance(end, Stop):
                turn.stop(end)

        stored = await turn.run(release)
    assert stored.state is (TurnState.CANCELLED if end is Stop.CANCELLED else TurnState.FAILED)
    assert stored.reply == "".join(released) == "Well, "


async def test_what_is_masked_is_masked_in_the_reply_and_the_turn_goes_on() -> None:
    stage = await moderated("free money", action=Action.MASK)
    turn, released = await played(stage, "Well, free mo", "ney for all.")
    assert (turn.state, turn.reply, released) == (TurnState.COMPLETED, "Well, *** for all.", "Well, *** for all.")
    assert not turn.moderation.masks_message


async def test_the_tutor_is_shown_what_was_released_of_a_blocked_reply() -> None:
    stage = await moderated("free money")
    await played(stage, "Well, free money")
    stage.tutor.script = ("Yes.",)
    await stage.play("And now?")
    assert [message.content for message in stage.tutor.requests[-1].messages][-2:] == ["Well, ", "And now?"]


async def test_a_blocked_reply_is_taken_over_like_any_other() -> None:
    stage = await moderated("free money")
    turn, released = await played(stage, "Well, free", Handover("replica-2"), " money")
    assert (turn.state, turn.replica, turn.continued, released) == (TurnState.BLOCKED, "replica-2", True, "Well, ")


async def test_a_reply_is_checked_against_its_outline() -> None:
    outline = Outline((Point("greets", ("welcome",)),), (Point("promises", ("for sure",)),))
    stage = await staged(outline=outline)
    turn, _ = await played(stage, "Welcome, it comes for sure.")
    assert turn.moderation.points == ("greets", "promises")
    assert [mark.rule for mark in turn.moderation.marks] == ["promises"]


@dataclass
class LateJudge(Moderation, Rules, ReplyCheck):
    """Holds everything until it is told how much is right, which may be while the tutor says nothing."""

    held: str = ""
    right: int = 0
    verdict: Judgement = field(default_factory=Judgement)
    entered: int = 0
    finished: int = 0
    news: Callable[[], None] = lambda: None
    heard: asyncio.Event = field(default_factory=asyncio.Event)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    """For the last verdict."""
    end: asyncio.Event = field(default_factory=asyncio.Event)
    """What that verdict takes."""

    def tell(self, right: int, verdict: Judgement | None = None) -> None:
        self.right, self.verdict = right, verdict or self.verdict
        self.news()

    @override
    async def rules(self, tenant: TenantId, scenario: ScenarioId | None = None) -> Rules:
        return self

    @override
    async def message(self, text: str) -> Moderated:
        return Moderated(text)

    @override
    @asynccontextmanager
    async def reply(self, message: str = "", *, news: Callable[[], None] = lambda: None) -> AsyncIterator[ReplyCheck]:
        self.entered, self.news = self.entered + 1, news
        try:
            yield self
        finally:
            self.entered -= 1

    @override
    def feed(self, text: str) -> str:
        self.held += text
        if text:
            self.heard.set()
        released, self.held, self.right = self.held[: self.right], self.held[self.right :], 0
        return released

    @override
    async def finish(self) -> str:
        self.finished += 1
        self.asked.set()
        if self.verdict.blocked is None:
            await self.end.wait()
            return self.held
        return ""

    @property
    @override
    def judgement(self) -> Judgement:
        return self.verdict


async def late_stage(*script: str | asyncio.Event) -> tuple[Stage, LateJudge]:
    stage, judge = await staged(), LateJudge()  # type: ignore[abstract]  # what is not asked for is not there
    stage.use = use_cases(replace(stage.outside, moderation=judge))
    stage.tutor.script = script
    return stage, judge


async def test_what_is_judged_while_the_tutor_is_silent_is_released_then() -> None:
    go_on = asyncio.Event()
    stage, judge = await late_stage("One. Two. ", go_on, "Three.")
    released: list[str] = []

    def release(text: str) -> None:
        released.append(text)
        go_on.set()

    async with stage.use.take_turn.begin(stage.order()) as turn, asyncio.TaskGroup() as tasks:
        running = tasks.create_task(turn.run(release))
        await judge.heard.wait()
        judge.tell(5)
        judge.end.set()
    assert (running.result().reply, released) == ("One. Two. Three.", ["One. ", "Two. Three."])
    assert judge.entered == 0


async def test_a_verdict_that_comes_while_the_tutor_is_silent_stops_it() -> None:
    stage, judge = await late_stage("One. Two. ", asyncio.Event())
    async with stage.use.take_turn.begin(stage.order()) as turn, asyncio.TaskGroup() as tasks:
        running = tasks.create_task(turn.run(lambda _: None))
        await judge.heard.wait()
        judge.tell(5, Judgement(blocked=BlockReason.UNSAFE))
        turn.stop(Stop.CANCELLED)  # too late
        judge.news()
    assert (running.result().state, running.result().reply) == (TurnState.BLOCKED, "One. ")
    assert (judge.entered, judge.finished) == (0, 1)


async def test_a_turn_is_cancelled_while_its_last_words_are_judged() -> None:
    stage, judge = await late_stage("One. ")
    async with stage.use.take_turn.begin(stage.order()) as turn, asyncio.TaskGroup() as tasks:
        running = tasks.create_task(turn.run(lambda _: None))
        await judge.asked.wait()
        judge.tell(5)  # nothing is looked for any more: the end says it all
        turn.stop(Stop.CANCELLED)
    assert (running.result().state, running.result().reply) == (TurnState.CANCELLED, "")
