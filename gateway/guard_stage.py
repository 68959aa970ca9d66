"""The second stage of moderation: a guard model judges what the rules have let pass.

Of what people say it judges the message, of what the model says each sentence with what was said before it. Documents
and an application's orders are left to the rules. Where the guard is silent, its settings decide.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256

from typing_extensions import override

from gateway.domain.moderation.guard import Absence, GuardPolicy, Level, Ruling, verdicts
from gateway.guard_calls import GuardCalls
from gateway.guard_line import GuardLine
from gateway.guard_settings import OutputMode, WhenAway
from sessions.domain.moderation import (
    NOTHING_FOUND,
    Action,
    BlockReason,
    Direction,
    Judgement,
    Mark,
    Moderated,
    Source,
    Verdict,
    together,
)
from sessions.domain.scenario import ScenarioId
from sessions.domain.viewer import TenantId
from sessions.errors import ModerationUnavailable
from sessions.moderation_ports import Moderation, ReplyCheck, Rules, no_news

MOST_HEARD = 4_000
"""Characters of a message that are judged at once; a longer one is judged in parts."""
_OVERLAP = 400
_LEAST = 1
_SEVERITIES = {Level.CONTROVERSIAL: 2, Level.UNSAFE: 4}


@dataclass(frozen=True, slots=True)
class GuardUse:
    """What the guard is asked about, and what comes of what it says."""

    policy: GuardPolicy
    when_away: WhenAway
    output: OutputMode
    input: bool


class GuardedModeration(Moderation):
    def __init__(self, *, rules: Moderation, calls: GuardCalls, use: GuardUse) -> None:
        self._rules = rules
        self._guard = _Guard(calls, use)

    @override
    async def rules(self, tenant: TenantId, scenario: ScenarioId | None = None) -> Rules:
        return _GuardedRules(await self._rules.rules(tenant, scenario), self._guard)

    @override
    async def points_made(self, points: Sequence[tuple[str, Sequence[str]]], text: str) -> tuple[str, ...]:
        return await self._rules.points_made(points, text)


class _Guard:
    def __init__(self, calls: GuardCalls, use: GuardUse) -> None:
        self._calls = calls
        self.use = use

    async def on_message(self, text: str) -> Judgement:
        """The marks are of the message as a whole."""
        found = NOTHING_FOUND
        for part in _parts(text):
            found = together([found, self._judgement(await self._calls.judge(part), Direction.INPUT)])
            if found.blocked is not None:
                break
        digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        marks = {(mark.rule, mark.action): replace(mark, end=len(text), digest=digest) for mark in found.marks}
        return Judgement(tuple(marks.values()), found.blocked)

    async def on_reply(self, message: str, said: str) -> Judgement:
        return self._judgement(await self._calls.judge(message[-MOST_HEARD:], said), Direction.OUTPUT)

    def _judgement(self, ruled: Ruling | Absence, direction: Direction) -> Judgement:
        if isinstance(ruled, Absence):
            is_closed = self.use.when_away is WhenAway.CLOSED
            mark = _mark(direction, ruled.value, Action.BLOCK if is_closed else Action.FLAG, _LEAST)
            return Judgement((mark,), BlockReason.UNCHECKED if is_closed else None)
        found = verdicts(ruled, self.use.policy)
        marks = [_mark(direction, name, Action(verdict), _SEVERITIES[ruled.level]) for name, verdict in found.items()]
        return Judgement(tuple(marks), BlockReason.UNSAFE if Verdict.BLOCK in found.values() else None)


class _GuardedRules(Rules):
    def __init__(self, rules: Rules, guard: _Guard) -> None:
        self._rules = rules
        self._guard = guard

    @property
    @override
    def identity(self) -> Hashable:
        return self._rules.identity

    @override
    async def message(self, text: str) -> Moderated:
        found = await self._rules.message(text)
        if found.blocked is not None or not self._guard.use.input or not found.text.strip():
            return found
        judgement = together([found.judgement, await self._guard.on_message(found.text)])
        return Moderated(found.text if judgement.blocked is None else "", judgement)

    @override
    async def instructions(self, text: str) -> Moderated:
        return await self._rules.instructions(text)

    @override
    @asynccontextmanager
    async def reply(self, message: str = "", *, news: Callable[[], None] = no_news) -> AsyncIterator[ReplyCheck]:
        output = self._guard.use.output
        async with self._rules.reply(message, news=news) as check:
            if output is OutputMode.OFF:
                yield check
                return
            async with self._line(message, news, holds=output is OutputMode.HOLD) as line:
                yield _GuardedCheck(check, line)

    @override
    async def written(self, text: str) -> Moderated:
        found = await self._rules.written(text)
        if self._guard.use.output is OutputMode.OFF:
            return found
        async with self._line("", no_news, holds=True) as line:
            line.add(found.text)
            said = await line.rest()
            if line.blocked is BlockReason.UNCHECKED:
                raise ModerationUnavailable("the guard that has to be asked is away")
            return Moderated(said, _with_line(found.judgement, line))

    @override
    async def knowledge(self, text: str) -> Moderated:
        return await self._rules.knowledge(text)

    @asynccontextmanager
    async def _line(self, message: str, news: Callable[[], None], *, holds: bool) -> AsyncIterator[GuardLine]:
        judge = partial(self._guard.on_reply, message)
        async with _own_tasks() as tasks:
            line = GuardLine(judge=judge, tasks=tasks, news=news, holds=holds)
            try:
                yield line
            finally:
                line.drop()


class _GuardedCheck(ReplyCheck):
    def __init__(self, check: ReplyCheck, line: GuardLine) -> None:
        self._check = check
        self._line = line

    @override
    def feed(self, text: str) -> str:
        if self._line.blocked is None:
            self._line.add(self._check.feed(text))
        return self._line.ready()

    @override
    async def finish(self) -> str:
        if self._line.blocked is None:
            self._line.add(await self._check.finish())
        return await self._line.rest()

    @property
    @override
    def judgement(self) -> Judgement:
        return _with_line(self._check.judgement, self._line)


def _with_line(found: Judgement, line: GuardLine) -> Judgement:
    """The guard's block counts first: all that it judges stands before what the rules have blocked."""
    return Judgement((*found.marks, *line.marks), line.blocked or found.blocked)


def _mark(direction: Direction, rule: str, action: Action, severity: int) -> Mark:
    return Mark(direction=direction, source=Source.GUARD, rule=rule, category=rule, severity=severity, action=action)


def _parts(text: str) -> Sequence[str]:
    """All of it, each part with the end of the one before."""
    step = MOST_HEARD - _OVERLAP
    return [text[at : at + MOST_HEARD] for at in range(0, max(len(text) - _OVERLAP, 1), step)]


@asynccontextmanager
async def _own_tasks() -> AsyncIterator[asyncio.TaskGroup]:
    """For tasks that end with the block; what the block raises comes out as it is."""
    try:
        async with asyncio.TaskGroup() as tasks:
            yield tasks
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None
