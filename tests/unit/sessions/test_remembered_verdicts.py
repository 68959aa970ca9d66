"""Verdicts hold for as long as the rules say the same, and no longer than there is room for them."""

import asyncio
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

import pytest
from typing_extensions import override

from sessions.domain.moderation import Action, BlockReason, Direction, Judgement, Mark, Moderated, Source
from sessions.moderation_ports import ReplyCheck, Rules
from sessions.remembered_verdicts import Reading, RememberedVerdicts


def mark(source: Source) -> Mark:
    return Mark(Direction.INPUT, source, "r0", "test", 1, Action.MASK)


@dataclass
class CountingRules(Rules):
    """Every `x` is masked, by this source."""

    name: str = "one"
    source: Source = Source.PHRASE
    blocked: BlockReason | None = None
    asked: list[str] = field(default_factory=list)

    @property
    @override
    def identity(self) -> str:
        return self.name

    def _read(self, text: str) -> Moderated:
        self.asked.append(text)
        marks = (mark(self.source),) if "x" in text else ()
        return Moderated(text.replace("x", "*"), Judgement(marks, self.blocked))

    @override
    async def message(self, text: str) -> Moderated:
        return self._read(text)

    @override
    async def instructions(self, text: str) -> Moderated:
        return self._read(text)

    @override
    async def written(self, text: str) -> Moderated:
        return self._read(text)

    @override
    async def knowledge(self, text: str) -> Moderated:
        return self._read(text)

    @override
    def reply(self, message: str = "", *, news: object = None) -> AbstractAsyncContextManager[ReplyCheck]:
        raise NotImplementedError


@pytest.mark.parametrize("reading", Reading)
async def test_a_text_is_read_once(reading: Reading) -> None:
    verdicts, rules = RememberedVerdicts(), CountingRules()
    for text in ("plain", "six"):
        first = await verdicts.of(rules, reading, text)
        assert await verdicts.of(rules, reading, text) == first
    assert rules.asked == ["plain", "six"]


async def test_it_is_read_anew_by_other_rules_and_as_something_else() -> None:
    verdicts, rules, others = RememberedVerdicts(), CountingRules(), CountingRules("other")
    for asked in (rules, others):
        await verdicts.of(asked, Reading.MESSAGE, "six")
        await verdicts.of(asked, Reading.KNOWLEDGE, "six")
        assert len(asked.asked) == 2


@pytest.mark.parametrize(
    "rules", [CountingRules(source=Source.GUARD), CountingRules(blocked=BlockReason.UNCHECKED)], ids=["guard", "away"]
)
async def test_what_a_guard_model_has_said_or_failed_to_say_is_asked_anew(rules: CountingRules) -> None:
    verdicts = RememberedVerdicts()
    for _ in range(2):
        await verdicts.of(rules, Reading.MESSAGE, "six")
    assert len(rules.asked) == 2


async def test_no_more_are_remembered_than_there_is_room_for() -> None:
    verdicts, rules = RememberedVerdicts(most=2), CountingRules()
    for text in ("a", "b", "a", "c", "a", "b"):
        await verdicts.of(rules, Reading.MESSAGE, text)
    assert rules.asked == ["a", "b", "c", "b"]


async def test_others_have_their_turn_between_texts_that_are_read() -> None:
    verdicts, rules, turns = RememberedVerdicts(), CountingRules(), list[int]()

    async def others() -> None:
        while True:
            turns.append(len(rules.asked))
            await asyncio.sleep(0)

    busy = asyncio.ensure_future(others())
    for number in range(5):
        await verdicts.of(rules, Reading.MESSAGE, f"text {number}")
    busy.cancel()
    assert set(turns) >= set(range(4))


async def test_a_long_text_is_remembered_only_where_it_stays_as_it_is() -> None:
    verdicts, rules = RememberedVerdicts(), CountingRules()
    for text in ("a" * 50_000, "x" * 50_000) * 2:
        await verdicts.of(rules, Reading.MESSAGE, text)
    assert [text[0] for text in rules.asked] == ["a", "x", "x"]
