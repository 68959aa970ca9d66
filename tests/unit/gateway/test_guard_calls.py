"""What is asked of the guard, what is counted, and when it is left alone."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest
from structlog.testing import capture_logs
from typing_extensions import override

from gateway.domain.moderation.guard import Absence, Level, Ruling
from gateway.domain.moderation.guard_breaker import GuardBreaker
from gateway.domain.moderation.guard_formats import GuardKind
from gateway.guard_calls import GuardCalls
from gateway.guard_ports import GuardModel, Silence
from tests.support.eventually import eventually


class Scripted(GuardModel):
    def __init__(self, *answers: str | Silence) -> None:
        self.answers = list(answers)
        self.asked: list[Sequence[Mapping[str, str]]] = []
        self.now = 0.0

    @override
    async def answer(self, conversation: Sequence[Mapping[str, str]]) -> str | Silence:
        self.asked.append(conversation)
        self.now += 0.5
        await asyncio.sleep(0)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def calls(model: Scripted) -> GuardCalls:
    breaker = GuardBreaker(pause_s=5.0)
    return GuardCalls(model=model, kind=GuardKind.QWEN3GUARD, breaker=breaker, ticks=lambda: model.now)


async def test_what_the_guard_says_is_counted() -> None:
    asking = calls(Scripted("Safety: Safe", "Safety: Unsafe\nCategories: Violent", "Safety: Controversial", "What?"))
    found = [await asking.judge("Hi", reply) for reply in (None, "a", "b", "c")]
    assert found == [
        Ruling(Level.SAFE),
        Ruling(Level.UNSAFE, ("violent",)),
        Ruling(Level.CONTROVERSIAL),
        Absence.UNREADABLE,
    ]
    seen = {name: value for name, value in asking.counters().items() if value}
    assert seen == {
        "guard_calls": 4,
        "guard_call_seconds": 2.0,
        "guard_safe": 1,
        "guard_unsafe": 1,
        "guard_controversial": 1,
        "guard_unreadable": 1,
    }
    assert asking.gauges() == {"guard_calls_running": 0, "guard_away": 0.0}


@pytest.mark.parametrize(
    ("silence", "counted"),
    [
        (Silence.TIMED_OUT, "guard_timeouts"),
        (Silence.UNREACHABLE, "guard_failures"),
        (Silence.BROKEN, "guard_failures"),
    ],
)
async def test_an_absent_guard_costs_one_question_and_is_asked_again_after_the_pause(
    silence: Silence, counted: str
) -> None:
    model = Scripted(silence)
    asking = calls(model)
    with capture_logs() as logs:
        assert [await asking.judge("Hi") for _ in range(20)] == [Absence.AWAY] * 20
        assert len(model.asked) == 1
        assert (asking.counters()[counted], asking.counters()["guard_skipped"]) == (1, 19)
        assert asking.gauges()["guard_away"] == 1.0
        model.now += 5.0
        model.answers = ["Safety: Safe"]
        assert await asking.judge("Hi") == Ruling(Level.SAFE)
    assert [(log["event"], log.get("reason")) for log in logs] == [("guard lost", silence), ("guard back", None)]
    assert asking.gauges()["guard_away"] == 0.0


@pytest.mark.parametrize("silence", [Silence.REFUSED, Silence.NONSENSE])
async def test_a_text_that_the_guard_cannot_take_keeps_it_from_nobody_else(silence: Silence) -> None:
    asking = calls(Scripted(silence, "Safety: Safe"))
    assert await asking.judge("Hi") is Absence.UNREADABLE
    assert await asking.judge("Hi") == Ruling(Level.SAFE)


async def test_its_return_is_noticed_though_nobody_speaks() -> None:
    model = Scripted(Silence.UNREACHABLE)
    asking = calls(model)
    looking = asyncio.ensure_future(asking.look_for_it(every_s=0.001))
    await eventually(lambda: asking.is_away)
    model.answers = ["Safety: Safe"]
    model.now += 5.0
    await eventually(lambda: not asking.is_away)
    asked = len(model.asked)
    await asyncio.sleep(0.02)
    assert len(model.asked) == asked, "one that is there is left in peace"
    looking.cancel()


async def test_a_question_that_is_taken_back_is_not_running_any_more() -> None:
    class Forever(Scripted):
        @override
        async def answer(self, conversation: Sequence[Mapping[str, str]]) -> str | Silence:
            await asyncio.Event().wait()
            return ""

    asking = calls(Forever(""))
    task = asyncio.ensure_future(asking.judge("Hi"))
    await eventually(lambda: asking.gauges()["guard_calls_running"] == 1)
    task.cancel()
    await eventually(lambda: asking.gauges()["guard_calls_running"] == 0)
    assert not asking.is_away
