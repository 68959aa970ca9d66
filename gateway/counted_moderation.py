"""Moderation whose verdicts are counted: how many texts of each kind, and by which stage what was found in them."""

from collections.abc import AsyncIterator, Callable, Hashable, Sequence
from contextlib import asynccontextmanager

from typing_extensions import override

from sessions.domain.moderation import Judgement, Moderated
from sessions.domain.scenario import ScenarioId
from sessions.domain.viewer import TenantId
from sessions.moderation_ports import Moderation, ReplyCheck, Rules, no_news

Saw = Callable[[str, Judgement], None]
"""Hears of each text that was checked: its kind and what was found."""


class CountedModeration(Moderation):
    def __init__(self, moderation: Moderation, *, saw: Saw) -> None:
        self._moderation = moderation
        self._saw = saw

    @override
    async def rules(self, tenant: TenantId, scenario: ScenarioId | None = None) -> Rules:
        return _CountedRules(await self._moderation.rules(tenant, scenario), self._saw)

    @override
    async def points_made(self, points: Sequence[tuple[str, Sequence[str]]], text: str) -> tuple[str, ...]:
        return await self._moderation.points_made(points, text)


class _CountedRules(Rules):
    def __init__(self, rules: Rules, saw: Saw) -> None:
        self._rules = rules
        self._saw = saw

    @property
    @override
    def identity(self) -> Hashable:
        return self._rules.identity

    @override
    async def message(self, text: str) -> Moderated:
        return self._counted("message", await self._rules.message(text))

    @override
    async def instructions(self, text: str) -> Moderated:
        return self._counted("instructions", await self._rules.instructions(text))

    @override
    @asynccontextmanager
    async def reply(self, message: str = "", *, news: Callable[[], None] = no_news) -> AsyncIterator[ReplyCheck]:
        async with self._rules.reply(message, news=news) as check:
            try:
                yield check
            finally:
                self._saw("reply", check.judgement)

    @override
    async def written(self, text: str) -> Moderated:
        return self._counted("written", await self._rules.written(text))

    @override
    async def knowledge(self, text: str) -> Moderated:
        return self._counted("knowledge", await self._rules.knowledge(text))

    def _counted(self, kind: str, found: Moderated) -> Moderated:
        self._saw(kind, found.judgement)
        return found
