"""Moderation as it really is, with rules that a test names; by default there are none, and nothing is an injection."""

from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from threading import Barrier, BrokenBarrierError
from typing import Any
from uuid import UUID, uuid4

from typing_extensions import override

from gateway.choice_check import ReplyRules
from gateway.domain.moderation.injection import InjectionScorer, Score, Surface, Thresholds
from gateway.domain.moderation.phrase_book import PhraseBook
from gateway.domain.moderation.phrases import Action, Phrase, PhraseList
from gateway.domain.moderation.policy import Policy
from gateway.moderation_desk import ModerationDesk
from gateway.moderation_ports import Live, RuleKeeper
from sessions.domain.viewer import TenantId
from sessions.errors import ModerationUnavailable
from sessions.moderation_ports import ReplyCheck

NEVER = Thresholds(flag=2.0, block=2.0)
LENIENT = Policy(user=NEVER, knowledge=NEVER)
_SCORER = InjectionScorer()


class CountedScorer(InjectionScorer):
    """Knows how many texts it has read."""

    scored = 0

    @override
    def score(self, text: str, surface: Surface = Surface.USER) -> Score:
        self.scored += 1
        return super().score(text, surface)


class MeetingScorer(InjectionScorer):
    """Finds nothing, and counts the texts that were read while so many were."""

    def __init__(self, many: int) -> None:
        super().__init__()
        self._all = Barrier(many)
        self.met = 0

    @override
    def score(self, text: str, surface: Surface = Surface.USER) -> Score:
        try:
            self._all.wait(0.6)
            self.met += 1
        except BrokenBarrierError:
            self._all.reset()
        return super().score("nothing", surface)


class FixedRules(RuleKeeper):
    """The same for everybody; a test may put other ones in their place."""

    def __init__(self, live: Live) -> None:
        self.now = live

    @override
    async def live(self, tenant: UUID, scenario: UUID | None) -> Live:
        return self.now


class UnreadableRules(RuleKeeper):
    """Nobody can tell them."""

    @override
    async def live(self, tenant: UUID, scenario: UUID | None) -> Live:
        raise ModerationUnavailable("the rules cannot be read")


def banned(*texts: str, action: Action = Action.BLOCK, name: str = "banned") -> PhraseList:
    """A list of these phrases, whose rules are r0, r1, ..."""
    return PhraseList(name, 1, tuple(Phrase(f"r{n}", text, "test", action=action) for n, text in enumerate(texts)))


def live_rules(
    lists: Iterable[PhraseList] = (), *, policy: Policy = LENIENT, output: Iterable[PhraseList] | None = None
) -> Live:
    """These lists for both directions, or others for what the model says."""
    book = PhraseBook(lists)
    return Live(book, book if output is None else PhraseBook(output), policy)


def moderation(*lists: PhraseList, policy: Policy = LENIENT) -> ModerationDesk:
    return ModerationDesk(keeper=FixedRules(live_rules(lists, policy=policy)), scorer=_SCORER)


class _OneCheck(AbstractAsyncContextManager[ReplyCheck]):
    def __init__(self, desk: ModerationDesk) -> None:
        self._desk = desk

    @override
    async def __aenter__(self) -> ReplyCheck:
        self._opened = (await self._desk.rules(TenantId(uuid4()))).reply()
        return await self._opened.__aenter__()

    @override
    async def __aexit__(self, *ended: Any) -> bool | None:
        return await self._opened.__aexit__(*ended)


def released_by(*lists: PhraseList) -> ReplyRules:
    """For an answer on OpenAI's paths; a test need not leave its stack."""
    desk = moderation(*lists)
    return ReplyRules(lambda: _OneCheck(desk), AsyncExitStack())
