"""Turns whose messages and replies a guard model judges, over real HTTP, on memory."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest

from gateway.guard_settings import GuardSettings
from gateway.use_cases import use_cases
from gateway.wiring.guard import guarding
from sessions.domain.moderation import BlockReason, Source
from sessions.domain.turn import Turn, TurnState
from sessions.use_cases.blocked_turn import BlockedTurn
from sessions.use_cases.open_turn import OpenTurn, Stop
from tests.support.eventually import eventually
from tests.support.guard_double import GuardDouble, guard_double
from tests.support.moderated import banned, moderation
from tests.support.stage import Stage, staged

REPLY = "一切都好。Then politics. 这里有炸弹！And the end."
RELEASED = "一切都好。Then politics. "


@dataclass
class Guarded:
    stage: Stage
    double: GuardDouble
    released: list[str] = field(default_factory=list)

    @asynccontextmanager
    async def running(self, *script: object) -> AsyncIterator[tuple[OpenTurn | BlockedTurn, asyncio.Task[Turn]]]:
        """A turn that runs until its tutor has said this."""
        self.stage.tutor.script = script  # type: ignore[assignment]  # what a tutor's script may hold
        async with self.stage.use.take_turn.begin(self.stage.order()) as turn:
            yield turn, asyncio.ensure_future(turn.run(self.released.append))

    async def played(self, *script: object) -> Turn:
        async with self.running(*script) as (_, task):
            turn = await task
        assert "".join(self.released) == turn.reply, "what is stored is what was released"
        self.released.clear()
        return turn


@asynccontextmanager
async def guarded(**settings: object) -> AsyncIterator[Guarded]:
    async with guard_double() as double:
        given = {"url": double.url, "model": "guard", "timeout_s": 10.0, **settings}
        async with guarding(GuardSettings.model_validate(given)) as guard:
            stage = await staged()
            desk = guard.behind(moderation(banned("secret word")))
            stage.use = use_cases(replace(stage.outside, moderation=desk))
            yield Guarded(stage, double)


def lined_up() -> int:
    return sum("GuardLine" in repr(task) for task in asyncio.all_tasks())


@pytest.mark.parametrize("step", [1, 2, 3, 5, 8, 13, 100])
async def test_a_reply_ends_before_what_is_unsafe_however_it_is_cut(step: int) -> None:
    async with guarded() as here:
        turn = await here.played(*(REPLY[at : at + step] for at in range(0, len(REPLY), step)))
        assert (turn.state, turn.reply, turn.moderation.blocked) == (TurnState.BLOCKED, RELEASED, BlockReason.UNSAFE)
        marks = [(mark.source, mark.rule, REPLY[mark.start : mark.end]) for mark in turn.moderation.marks]
        assert marks == [
            (Source.GUARD, "politically_sensitive", "Then politics. "),
            (Source.GUARD, "violent", "这里有炸弹！"),
        ]


async def test_an_unsafe_message_never_reaches_the_tutor() -> None:
    async with guarded() as here:
        async with here.stage.use.take_turn.begin(here.stage.order("How do I build a bomb?")) as turn:
            stored = await turn.run(here.released.append)
        assert (stored.state, stored.moderation.blocked, stored.text) == (TurnState.BLOCKED, BlockReason.UNSAFE, "")
        assert here.stage.tutor.requests == []


async def test_a_verdict_releases_and_ends_though_the_tutor_is_silent() -> None:
    bomb = asyncio.Event()
    async with guarded() as here:
        here.double.waits = lambda text: bomb if "bomb" in text else None
        async with here.running("All is well. ", "Here is a bomb. ", "N", asyncio.Event()) as (_, task):
            await eventually(lambda: here.released == ["All is well. "])
            assert not task.done()
            bomb.set()
            turn = await asyncio.wait_for(task, 5)
        assert (turn.state, turn.reply) == (TurnState.BLOCKED, "All is well. ")
        assert lined_up() == 0


async def test_what_a_cancelled_turn_holds_is_dropped_and_no_question_stays() -> None:
    never = asyncio.Event()
    async with guarded() as here:
        here.double.waits = lambda text: never if "Two" in text else None
        async with here.running("One. ", "Two. ", "Three. ", asyncio.Event()) as (turn, task):
            await eventually(lambda: here.released == ["One. "] and here.double.running > 0)
            turn.stop(Stop.CANCELLED)
            stored = await asyncio.wait_for(task, 5)
        assert (stored.state, stored.reply) == (TurnState.CANCELLED, "One. ")
        assert lined_up() == 0
        await eventually(lambda: here.double.running == 0)


async def test_a_turn_is_cancelled_also_while_the_last_verdict_is_waited_for() -> None:
    never = asyncio.Event()
    async with guarded() as here:
        here.double.waits = lambda text: never if "One" in text else None
        async with here.running("One.") as (turn, task):
            await eventually(lambda: here.double.running == 1)
            turn.stop(Stop.CANCELLED)
            stored = await asyncio.wait_for(task, 5)
        assert (stored.state, stored.reply) == (TurnState.CANCELLED, "")
        assert lined_up() == 0


async def test_the_end_waits_for_the_last_verdict() -> None:
    async with guarded() as here:
        assert (await here.played("One. ", "Two.")).reply == "One. Two."
        turn = await here.played("One. ", "Two is a bomb")
        assert (turn.state, turn.reply) == (TurnState.BLOCKED, "One. ")


async def test_what_stands_before_a_banned_phrase_is_judged_before_it_leaves() -> None:
    async with guarded() as here:
        turn = await here.played("One. ", "A bomb. ", "The secret word is", asyncio.Event())
        assert (turn.reply, turn.moderation.blocked) == ("One. ", BlockReason.UNSAFE)
        turn = await here.played("One. ", "The secret word is", asyncio.Event())
        assert (turn.reply, turn.moderation.blocked) == ("One. The ", BlockReason.BANNED_PHRASE)


async def test_text_that_does_not_wait_is_stopped_by_the_first_verdict_against_it() -> None:
    async with guarded(output="follow") as here:
        turn = await here.played("One. ", "A bomb. ", "Thr", asyncio.Event())
        assert (turn.state, turn.reply, turn.moderation.blocked) == (
            TurnState.BLOCKED,
            "One. A bomb. Thr",
            BlockReason.UNSAFE,
        )


@pytest.mark.parametrize("when_away", ["open", "closed"])
async def test_without_an_answer_the_settings_decide(when_away: str) -> None:
    async with guarded(when_away=when_away, input=False) as here:
        here.double.fault = "500"
        turn = await here.played("One. ", "Two.")
        assert [mark.rule for mark in turn.moderation.marks] == ["guard_away"]
        if when_away == "open":
            assert (turn.state, turn.reply) == (TurnState.COMPLETED, "One. Two.")
        else:
            assert (turn.state, turn.reply, turn.moderation.blocked) == (TurnState.BLOCKED, "", BlockReason.UNCHECKED)
