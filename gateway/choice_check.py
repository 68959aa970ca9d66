"""One choice of an answer under the rules of its caller's tenant: every text that it has is checked as a reply.

Its texts are independent of each other, but a block in one of them ends them all.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from typing import Final

from gateway.domain.openai_said import Place
from sessions.moderation_ports import ReplyCheck

CONTENT_FILTER: Final = "content_filter"
"""OpenAI's word for the end of a choice that was blocked."""


@dataclass(frozen=True, slots=True)
class ReplyRules:
    """Opens the checks of one answer; what they need stays until the stack is left."""

    check: Callable[[], AbstractAsyncContextManager[ReplyCheck]]
    stack: AsyncExitStack

    async def opened(self) -> ReplyCheck:
        return await self.stack.enter_async_context(self.check())


class ChoiceCheck:
    """`feed` it what is said and `finish` it at its end; what both release, in this order, is what may be told."""

    def __init__(self, rules: ReplyRules) -> None:
        self._rules = rules
        self._checks: dict[Place, ReplyCheck] = {}
        self._finished: set[Place] = set()
        self.is_blocked = False
        self.is_over = False

    async def feed(self, texts: Iterable[tuple[Place, str]]) -> dict[Place, str]:
        told: dict[Place, str] = {}
        for place, text in texts:
            told[place] = told.get(place, "") + await self._fed(place, text)
            if place.member == "arguments":
                # A tool's name is whole once its arguments begin, and clients expect it no later.
                name = place._replace(member="name")
                told[name] = told.get(name, "") + await self._rest(name)
        return told

    async def finish(self) -> dict[Place, str]:
        """It was said to its end, or it is blocked; behind the first text that is blocked nothing more is told."""
        told: dict[Place, str] = {}
        for place, check in self._checks.items():
            told[place] = await self._rest(place)
            if check.judgement.blocked is not None:
                break
        self.is_over = True
        return told

    async def _fed(self, place: Place, text: str) -> str:
        if self.is_blocked or place in self._finished:
            return ""
        if place not in self._checks:
            self._checks[place] = await self._rules.opened()
        return self._heeded(self._checks[place], self._checks[place].feed(text))

    async def _rest(self, place: Place) -> str:
        if place in self._finished or (check := self._checks.get(place)) is None:
            return ""
        self._finished.add(place)
        return self._heeded(check, await check.finish())

    def _heeded(self, check: ReplyCheck, told: str) -> str:
        self.is_blocked |= check.judgement.blocked is not None
        return told


def merged(first: Mapping[Place, str], then: Mapping[Place, str]) -> dict[Place, str]:
    return {place: first.get(place, "") + then.get(place, "") for place in {**first, **then}}
