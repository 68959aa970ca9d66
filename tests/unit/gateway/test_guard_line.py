"""Sentences in line before the guard: the verdicts decide, and not when they come."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.guard_line import MOST_SAID, GuardLine
from sessions.domain.moderation import NOTHING_FOUND, Action, BlockReason, Direction, Judgement, Mark, Source
from sessions.moderation_ports import no_news
from tests.support.eventually import eventually

FLAGGED = Judgement((Mark(Direction.OUTPUT, Source.GUARD, "rude", "rude", 2, Action.FLAG),))
BLOCKED = Judgement((Mark(Direction.OUTPUT, Source.GUARD, "bad", "bad", 4, Action.BLOCK),), BlockReason.UNSAFE)
TEXT = "One is fine. Two is rude. Three is fine. Four is bad. Five is fine."


class Judge:
    """Answers about a text once a test says so; `at_once` about all."""

    def __init__(self, *, at_once: bool = False) -> None:
        self.asked: list[str] = []
        self._at_once = at_once
        self._answers: dict[str, asyncio.Event] = {}

    async def __call__(self, said: str) -> Judgement:
        self.asked.append(said)
        if not self._at_once:
            await self._answers.setdefault(last(said), asyncio.Event()).wait()
        return BLOCKED if "bad" in said else FLAGGED if "rude" in said else NOTHING_FOUND

    async def answer(self, word: str) -> None:
        await eventually(lambda: word in self._answers)
        self._answers[word].set()


def last(said: str) -> str:
    return said.strip().rstrip(".").split(". ")[-1].split(" ")[0]


@asynccontextmanager
async def lined(judge: Judge, *, news: Callable[[], None] = no_news, holds: bool = True) -> AsyncIterator[GuardLine]:
    async with asyncio.TaskGroup() as tasks:
        line = GuardLine(judge=judge, tasks=tasks, news=news, holds=holds)
        yield line
        line.drop()


async def test_each_sentence_is_judged_with_what_was_said_before_it() -> None:
    judge = Judge(at_once=True)
    async with lined(judge) as line:
        line.add("One. Two.")
        assert await line.rest() == "One. Two."
    assert judge.asked == ["One. ", "One. Two."]


async def test_a_sentence_is_released_when_it_was_judged_and_those_before_it() -> None:
    judge, told = Judge(), list[str]()
    async with lined(judge, news=lambda: told.append(line.ready())) as line:
        line.add("One. Two. Three. Four")
        assert line.ready() == ""
        await judge.answer("Two")
        await judge.answer("Three")
        await asyncio.sleep(0)
        assert told == []
        await judge.answer("One")
        await eventually(lambda: "".join(told) == "One. Two. Three. ")


@pytest.mark.parametrize("order", [*permutations(["One", "Two", "Three", "Four"])], ids="-".join)
async def test_the_text_is_the_same_in_whatever_order_verdicts_come(order: tuple[str, ...]) -> None:
    judge, told = Judge(), list[str]()
    async with lined(judge, news=lambda: told.append(line.ready())) as line:
        for piece in (TEXT[at : at + 3] for at in range(0, len(TEXT), 3)):
            line.add(piece)
        for word in order:
            await judge.answer(word)
        await eventually(lambda: line.blocked is not None)
        said = "".join(told) + await line.rest()
        assert said == "One is fine. Two is rude. Three is fine. "
        assert line.blocked is BlockReason.UNSAFE
        marks = [(mark.rule, TEXT[mark.start : mark.end]) for mark in line.marks]
        assert marks == [("rude", "Two is rude. "), ("bad", "Four is bad. ")]
        assert all(len(mark.digest) == 64 for mark in line.marks)
        line.add("More. ")
        assert line.ready() == ""


async def test_a_rule_that_flags_first_and_blocks_then_is_told_twice() -> None:
    async def judge(said: str) -> Judgement:
        worse = replace(FLAGGED.marks[0], action=Action.BLOCK)
        return Judgement((worse,), BlockReason.UNSAFE) if "Three" in said else FLAGGED

    async with asyncio.TaskGroup() as tasks:
        line = GuardLine(judge=judge, tasks=tasks, news=no_news, holds=True)
        line.add("One. Two. Three.")
        assert await line.rest() == "One. Two. "
    assert [(mark.action, mark.start) for mark in line.marks] == [(Action.FLAG, 0), (Action.BLOCK, 10)]


async def test_who_waits_for_the_rest_gets_all_of_it_there() -> None:
    judge, told = Judge(), list[str]()
    async with lined(judge, news=lambda: told.append(line.ready())) as line:
        line.add("One. Two.")
        rest = asyncio.ensure_future(line.rest())
        await judge.answer("One")
        await judge.answer("Two")
        assert (await rest, told) == ("One. Two.", [])


async def test_text_that_does_not_wait_is_stopped_by_the_first_verdict_against_it() -> None:
    judge, told = Judge(), list[BlockReason | None]()
    async with lined(judge, news=lambda: told.append(line.blocked), holds=False) as line:
        line.add("One. Two is bad. Thr")
        assert line.ready() == "One. Two is bad. Thr"
        await judge.answer("One")
        await asyncio.sleep(0)
        assert told == []
        await judge.answer("Two")
        await eventually(lambda: told == [BlockReason.UNSAFE])
        line.add("ee. ")
        assert await line.rest() == ""


async def test_what_is_dropped_leaves_no_task() -> None:
    before = asyncio.all_tasks()
    async with lined(Judge()) as line:
        line.add("One. Two. Three. Four. Five. Six. Seven")
        await eventually(lambda: len(asyncio.all_tasks() - before) == 6)
    assert asyncio.all_tasks() == before


async def test_a_long_text_asks_few_questions_at_a_time() -> None:
    judge = Judge()
    async with lined(judge) as line:
        line.add("Nothing happens. " * 50)
        await eventually(lambda: len(judge.asked) >= 4)
        assert len(judge.asked) == 4


async def test_what_lies_far_back_is_not_judged_again() -> None:
    judge = Judge(at_once=True)
    async with lined(judge) as line:
        line.add("x" * (2 * MOST_SAID))
        await line.rest()
    assert max(map(len, judge.asked)) == MOST_SAID


async def test_blank_lines_are_nothing_to_judge() -> None:
    judge = Judge(at_once=True)
    async with lined(judge) as line:
        line.add("\n\n  ")
        assert await line.rest() == "\n\n  "
    assert judge.asked == []


@given(words=st.lists(st.sampled_from(["fine", "rude", "bad", "\n"]), max_size=8), step=st.integers(1, 9))
def test_any_cutting_gives_the_same_text_and_the_same_verdict(words: list[str], step: int) -> None:
    text = "".join(f"It is {word}. " for word in words)

    async def said(step: int) -> tuple[str, tuple[Mark, ...], BlockReason | None]:
        async with lined(Judge(at_once=True)) as line:
            heard = ""
            for at in range(0, len(text), step):
                line.add(text[at : at + step])
                await asyncio.sleep(0)
                heard += line.ready()
            return heard + await line.rest(), line.marks, line.blocked

    assert asyncio.run(said(step)) == asyncio.run(said(len(text) + 1))
