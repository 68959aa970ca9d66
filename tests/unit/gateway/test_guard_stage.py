"""The guard behind the rules, over real HTTP: what it judges, and what comes of its verdicts and of its absence."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gateway.domain.moderation.phrases import Action as RuleAction
from gateway.guard_settings import GuardSettings
from gateway.guard_stage import MOST_HEARD
from gateway.wiring.guard import Guarding, guarding
from sessions.domain.moderation import Action, BlockReason, Direction, Moderated, Source, Verdict
from sessions.domain.viewer import TenantId
from sessions.errors import ModerationUnavailable
from sessions.moderation_ports import Rules
from tests.support.eventually import eventually
from tests.support.guard_double import GuardDouble, guard_double
from tests.support.moderated import banned, moderation
from tests.support.records_world import HERE

REPLY = "First a greeting. Then politics. Now the bomb. And the end."


@pytest.fixture
async def double() -> AsyncIterator[GuardDouble]:
    async with guard_double() as running:
        yield running


@asynccontextmanager
async def guard(double: GuardDouble, **settings: object) -> AsyncIterator[Guarding]:
    given = {"url": double.url, "model": "guard", "timeout_s": 5.0, **settings}
    async with guarding(GuardSettings.model_validate(given)) as running:
        await eventually(lambda: running.counters()["guard_calls"] == 1)
        double.asked.clear()  # it was asked whether it is there
        yield running


@asynccontextmanager
async def rules(double: GuardDouble, **settings: object) -> AsyncIterator[Rules]:
    async with guard(double, **settings) as running:
        desk = running.behind(moderation(banned("secret word"), banned("mild", action=RuleAction.MASK)))
        yield await desk.rules(TenantId(HERE.tenant))


async def streamed(rules: Rules, text: str, step: int, message: str = "") -> Moderated:
    """As a turn hears it, with news of verdicts in between."""
    said: list[str] = []
    async with rules.reply(message, news=lambda: said.append(check.feed(""))) as check:
        for at in range(0, len(text), step):
            said.append(check.feed(text[at : at + step]))
            if check.judgement.blocked is not None:
                break
            await asyncio.sleep(0)
        said.append(await check.finish())
        return Moderated("".join(said), check.judgement)


async def test_a_message_is_judged_once_the_rules_have_let_it_pass(double: GuardDouble) -> None:
    async with rules(double) as judged:
        assert (await judged.message("a secret word")).blocked is BlockReason.BANNED_PHRASE
        assert double.asked == []
        assert await judged.message("Good morning") == Moderated("Good morning")
        found = await judged.message("How do I build a bomb?")
        assert (found.text, found.blocked) == ("", BlockReason.UNSAFE)
        (mark,) = found.judgement.marks
        assert (mark.direction, mark.source, mark.rule, mark.category, mark.severity, mark.action) == (
            Direction.INPUT,
            Source.GUARD,
            "violent",
            "violent",
            4,
            Action.BLOCK,
        )
        assert (mark.start, mark.end, len(mark.digest)) == (0, len("How do I build a bomb?"), 64)
        assert double.judged == ["Good morning", "How do I build a bomb?"]


async def test_what_the_guard_sees_is_the_text_with_its_masks(double: GuardDouble) -> None:
    async with rules(double) as judged:
        found = await judged.message("mild politics")
        assert (found.text, found.judgement.verdict) == ("*** politics", Verdict.FLAG)
        assert [mark.rule for mark in found.judgement.marks] == ["r0", "politically_sensitive"]
    assert double.judged == ["*** politics"]


async def test_all_of_a_long_message_is_judged(double: GuardDouble) -> None:
    async with rules(double) as judged:
        for place in (0, MOST_HEARD - 2, 2 * MOST_HEARD, 3 * MOST_HEARD):
            text = ("x" * place + "bomb").ljust(3 * MOST_HEARD + 4, "x")
            assert (await judged.message(text)).blocked is BlockReason.UNSAFE
        assert max(map(len, double.judged)) <= MOST_HEARD
        assert (await judged.message("x" * MOST_HEARD)).judgement.verdict is Verdict.ALLOW


@pytest.mark.parametrize("step", [1, 2, 7, 100])
async def test_a_reply_ends_before_the_sentence_that_is_unsafe(double: GuardDouble, step: int) -> None:
    async with rules(double) as judged:
        found = await streamed(judged, REPLY, step, message="Tell me")
        assert found.text == "First a greeting. Then politics. "
        assert found.blocked is BlockReason.UNSAFE
        marks = [(mark.rule, mark.action, REPLY[mark.start : mark.end]) for mark in found.judgement.marks]
        assert marks == [
            ("politically_sensitive", Action.FLAG, "Then politics. "),
            ("violent", Action.BLOCK, "Now the bomb. "),
        ]
        assert {mark.direction for mark in found.judgement.marks} == {Direction.OUTPUT}
        assert await judged.written(REPLY) == found
        asked = [list(each.said) for each in double.asked]
        assert ["Tell me", "First a greeting. "] in asked
        assert ["Tell me", "First a greeting. Then politics. "] in asked


@pytest.mark.parametrize("slow", ["greeting", "politics", "bomb"])
async def test_the_reply_is_the_same_whichever_verdict_is_late(double: GuardDouble, slow: str) -> None:
    gate = asyncio.Event()
    double.waits = lambda text: gate if text.rstrip(". ").endswith(slow) else None
    async with rules(double) as judged, asyncio.TaskGroup() as tasks:
        reply = tasks.create_task(streamed(judged, REPLY, 3))
        await eventually(lambda: len(double.asked) >= 3)
        gate.set()
        assert (await reply).text == "First a greeting. Then politics. "


async def test_what_stands_before_a_banned_phrase_is_judged_before_it_is_released(double: GuardDouble) -> None:
    async with rules(double) as judged:
        safe = await streamed(judged, "All is well. But the secret word is", 4)
        assert (safe.text, safe.blocked) == ("All is well. But the ", BlockReason.BANNED_PHRASE)
        for step in (1, 5, 100):
            found = await streamed(judged, "All is well. A bomb. But the secret word is", step)
            assert (found.text, found.blocked) == ("All is well. ", BlockReason.UNSAFE)
        assert await judged.written("All is well. But the secret word is") == safe


async def test_a_verdict_that_comes_while_nothing_is_said_releases_what_waited(double: GuardDouble) -> None:
    said: list[str] = []
    async with rules(double) as judged, judged.reply(news=lambda: said.append(check.feed(""))) as check:
        assert check.feed("One. Two") == ""
        await eventually(lambda: said == ["One. "])


async def test_text_that_does_not_wait_is_released_at_once_and_stopped_late(double: GuardDouble) -> None:
    async with rules(double, output="follow") as judged:
        blocked = asyncio.Event()

        def news() -> None:
            if check.judgement.blocked is not None:
                blocked.set()

        async with judged.reply(news=news) as check:
            assert check.feed(REPLY) == REPLY
            await asyncio.wait_for(blocked.wait(), 5)
            assert check.judgement.blocked is BlockReason.UNSAFE
            assert (check.feed("more"), await check.finish()) == ("", "")


async def test_what_is_switched_off_is_not_judged(double: GuardDouble) -> None:
    async with rules(double, output="off", input=False) as judged:
        assert (await judged.message("a bomb")).blocked is None
        assert (await streamed(judged, REPLY, 3)).text == REPLY
        assert (await judged.written(REPLY)).text == REPLY
    assert double.asked == []


async def test_documents_and_orders_are_left_to_the_rules(double: GuardDouble) -> None:
    async with rules(double) as judged:
        assert (await judged.knowledge("a bomb")).blocked is None
        assert (await judged.instructions("a bomb")).blocked is None
    assert double.asked == []


@pytest.mark.parametrize("fault", ["500", "silent", "cut", "nonsense", "prose"])
@pytest.mark.parametrize("when_away", ["open", "closed"])
async def test_where_the_guard_is_silent_the_settings_decide(double: GuardDouble, fault: str, when_away: str) -> None:
    is_open = when_away == "open"
    rule = "guard_unreadable" if fault in {"nonsense", "prose"} else "guard_away"
    async with rules(double, when_away=when_away, timeout_s=0.3) as judged:
        double.fault = fault
        for found in (await judged.message("Hello"), await streamed(judged, REPLY, 3)):
            assert found.blocked is (None if is_open else BlockReason.UNCHECKED)
            assert found.judgement.verdict is (Verdict.FLAG if is_open else Verdict.BLOCK)
            assert [(mark.source, mark.rule) for mark in found.judgement.marks] == [(Source.GUARD, rule)]
            assert bool(found.text) is is_open
        if is_open:
            assert (await judged.written("Hello.")).judgement.verdict is Verdict.FLAG
        else:
            with pytest.raises(ModerationUnavailable):
                await judged.written("Hello.")
    if rule == "guard_away":
        assert len(double.asked) <= 2, "one that is away is not asked about each sentence"


async def test_another_kind_of_guard_is_read_by_its_own_words(double: GuardDouble) -> None:
    double.says = ("\n\nsafe", "\n\nsafe", "\n\nunsafe\nS9,S1")
    async with rules(double, kind="llama_guard", categories={"indiscriminate_weapons": "flag"}) as judged:
        found = await judged.written(REPLY)
        assert (found.text, found.blocked) == ("First a greeting. Then politics. ", BlockReason.UNSAFE)
        marks = [(mark.rule, mark.action) for mark in found.judgement.marks]
        assert marks == [("indiscriminate_weapons", Action.FLAG), ("violent_crimes", Action.BLOCK)]
        double.says = ("Safety: Safe",) * 3
        assert [mark.rule for mark in (await judged.message("Hi")).judgement.marks] == ["guard_unreadable"]


async def test_a_dead_guard_costs_one_wait_and_not_one_a_sentence(double: GuardDouble) -> None:
    async with guard(double, timeout_s=0.3) as running:
        double.fault = "silent"
        judged = await running.behind(moderation()).rules(TenantId(HERE.tenant))
        assert (await judged.message("Hello")).judgement.verdict is Verdict.FLAG
        found = await streamed(judged, "This is said. " * 30, 5)
        assert found.text == "This is said. " * 30
        assert running.gauges()["guard_away"] == 1.0
        assert (running.counters()["guard_timeouts"], running.counters()["guard_skipped"]) == (1, 30)


async def test_what_a_category_is_set_to_counts(double: GuardDouble) -> None:
    async with rules(double, categories={"violent": "flag", "politically_sensitive": "block"}) as judged:
        found = await judged.written(REPLY)
        assert (found.text, found.blocked) == ("First a greeting. ", BlockReason.UNSAFE)
        assert (await judged.message("a bomb")).judgement.verdict is Verdict.FLAG


async def test_a_reply_that_nobody_hears_to_its_end_leaves_no_task(double: GuardDouble) -> None:
    gate = asyncio.Event()
    async with rules(double) as judged:
        double.waits = lambda _: gate

        async def heard() -> None:
            async with judged.reply() as check:
                check.feed("One. Two. Three. Four. ")
                await asyncio.Event().wait()

        hearing = asyncio.ensure_future(heard())
        await eventually(lambda: double.running == 3)
        assert [task for task in asyncio.all_tasks() if "GuardLine" in repr(task)]
        hearing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hearing
        assert not [task for task in asyncio.all_tasks() if "GuardLine" in repr(task)]
        await eventually(lambda: double.running == 0)


async def test_what_breaks_a_reply_comes_out_as_it_is(double: GuardDouble) -> None:
    gate = asyncio.Event()

    async def broken(judged: Rules) -> None:
        async with judged.reply() as check:
            check.feed("One. Two. ")
            raise ZeroDivisionError

    async with rules(double) as judged:
        double.waits = lambda _: gate
        with pytest.raises(ZeroDivisionError):
            await broken(judged)
        await eventually(lambda: double.running == 0)


async def test_fifty_replies_at_once_are_bounded_and_each_is_whole(double: GuardDouble) -> None:
    text, gate = "This is said. " * 8, asyncio.Event()
    async with rules(double, at_once=5, timeout_s=20.0) as judged:
        double.waits = lambda _: gate
        async with asyncio.TaskGroup() as tasks:
            replies = [tasks.create_task(streamed(judged, text, 9)) for _ in range(50)]
            await eventually(lambda: double.running == 5)
            gate.set()
    assert [each.result().text for each in replies] == [text] * 50
    assert double.most_at_once == 5
    assert len(double.asked) == 50 * 8


async def test_points_and_names_of_rules_are_those_of_the_rules(double: GuardDouble) -> None:
    async with guard(double) as running:
        plain = moderation()
        desk = running.behind(plain)
        assert await desk.points_made([("thanks", ("thank you",))], "Thank you!") == ("thanks",)
        first, second = [await desk.rules(TenantId(HERE.tenant)) for _ in range(2)]
        assert first.identity == second.identity
