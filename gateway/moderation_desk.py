"""Moderation as sessions ask for it: rules that are kept elsewhere, put to each text that passes.

A message is read for banned phrases and scored for injections; a reply is read for banned phrases while it streams. A
text of some length is read in a thread, since turns of others go on meanwhile.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache, partial
from itertools import count
from weakref import WeakKeyDictionary

from typing_extensions import TypeVar, override

from gateway.domain.moderation.injection import InjectionScorer, InjectionVerdict, Score, Surface, verdict_on
from gateway.domain.moderation.phrase_book import PhraseBook
from gateway.domain.moderation.release import ReleaseFilter, moderate
from gateway.domain.moderation.talking_points import TalkingPoints
from gateway.domain.moderation.verdict import Finding
from gateway.moderation_ports import Live, RuleKeeper
from sessions.domain.moderation import Action, BlockReason, Direction, Judgement, Mark, Moderated, Source
from sessions.domain.scenario import ScenarioId
from sessions.domain.viewer import TenantId
from sessions.moderation_ports import Moderation, ReplyCheck, Rules, no_news

_LONG = 2_000
"""Characters that are read here and now; more take milliseconds."""
_VERY_LONG = 20_000
"""Characters that are read beside anything else; more take a good part of a second, and wait for each other."""
_MOST_OUTLINES = 256
"""That are kept ready for use."""
_Found = TypeVar("_Found")
_SEVERITIES = {InjectionVerdict.FLAG: 2, InjectionVerdict.BLOCK: 4}


class ModerationDesk(Moderation):
    def __init__(self, *, keeper: RuleKeeper, scorer: InjectionScorer) -> None:
        self._keeper = keeper
        self._scorer = scorer
        self._numbers = _Numbers()
        self._line = asyncio.Lock()
        self._outlines = lru_cache(_MOST_OUTLINES)(TalkingPoints)

    @override
    async def rules(self, tenant: TenantId, scenario: ScenarioId | None = None) -> Rules:
        live = await self._keeper.live(tenant, scenario)
        numbers = self._numbers
        identity = numbers, numbers.of(live.input), numbers.of(live.output), live.policy
        return _LiveRules(live, scorer=self._scorer, identity=identity, line=self._line)

    @override
    async def points_made(self, points: Sequence[tuple[str, Sequence[str]]], text: str) -> tuple[str, ...]:
        named = tuple((name, tuple(phrases)) for name, phrases in points)
        return await asyncio.to_thread(lambda: self._outlines(named).made(text))


class _Numbers:
    """A number for each book that no other has here, even after it: a book that is named by it need not be kept."""

    def __init__(self) -> None:
        self._next = count()
        self._of = WeakKeyDictionary[PhraseBook, int]()

    def of(self, book: PhraseBook) -> int:
        if (known := self._of.get(book)) is not None:
            return known
        return self._of.setdefault(book, next(self._next))


class _LiveRules(Rules):
    def __init__(self, live: Live, *, scorer: InjectionScorer, identity: Hashable, line: asyncio.Lock) -> None:
        self._live = live
        self._scorer = scorer
        self._identity = identity
        self._line = line

    @property
    @override
    def identity(self) -> Hashable:
        return self._identity

    @override
    async def message(self, text: str) -> Moderated:
        return await self._read(partial(self._heard, surface=Surface.USER), text)

    @override
    async def instructions(self, text: str) -> Moderated:
        return await self._read(self._phrases, text)

    @override
    @asynccontextmanager
    async def reply(self, message: str = "", *, news: Callable[[], None] = no_news) -> AsyncIterator[ReplyCheck]:
        yield _PhraseCheck(self._live)

    @override
    async def written(self, text: str) -> Moderated:
        async with self.reply() as check:
            said = await self._read(check.feed, text)
            said += await check.finish()
        return Moderated(said, check.judgement)

    @override
    async def knowledge(self, text: str) -> Moderated:
        # A document has thousands of pieces.
        return await self._aside(partial(self._heard, surface=Surface.KNOWLEDGE), text)

    async def _read(self, read: Callable[[str], _Found], text: str) -> _Found:
        return read(text) if len(text) <= _LONG else await self._aside(read, text)

    async def _aside(self, read: Callable[[str], _Found], text: str) -> _Found:
        if len(text) <= _VERY_LONG:
            return await asyncio.to_thread(read, text)
        async with self._line:
            return await asyncio.to_thread(read, text)

    def _phrases(self, text: str) -> Moderated:
        found = moderate(text, self._live.input, mask=self._live.policy.mask)
        marks = tuple(_mark(each, Direction.INPUT) for each in found.findings)
        if found.blocked is not None:
            return Moderated("", Judgement(marks, BlockReason.BANNED_PHRASE))
        return Moderated(found.text, Judgement(marks))

    def _heard(self, text: str, surface: Surface) -> Moderated:
        found, policy = self._phrases(text), self._live.policy
        if found.blocked is not None:
            return found
        score = self._scorer.score(text, surface)
        verdict = verdict_on(score, policy.user if surface is Surface.USER else policy.knowledge)
        if verdict is InjectionVerdict.ALLOW:
            return found
        marks = (*found.judgement.marks, *_signals(score, verdict))
        if verdict is InjectionVerdict.BLOCK:
            return Moderated("", Judgement(marks, BlockReason.INJECTION))
        return Moderated(found.text, Judgement(marks))


class _PhraseCheck(ReplyCheck):
    def __init__(self, live: Live) -> None:
        self._release = ReleaseFilter(live.output, mask=live.policy.mask)
        self._marks: list[Mark] = []

    @override
    def feed(self, text: str) -> str:
        released = self._release.feed(text)
        if released.findings:
            self._marks += [_mark(each, Direction.OUTPUT) for each in released.findings]
        return released.text

    @override
    async def finish(self) -> str:
        released = self._release.finish()
        self._marks += [_mark(each, Direction.OUTPUT) for each in released.findings]
        return released.text

    @property
    @override
    def judgement(self) -> Judgement:
        blocked = None if self._release.blocked is None else BlockReason.BANNED_PHRASE
        return Judgement(tuple(self._marks), blocked)


def _mark(found: Finding, direction: Direction) -> Mark:
    return Mark(
        direction=direction,
        source=Source.PHRASE,
        rule=found.rule,
        category=found.category,
        severity=found.severity,
        action=Action(found.action),
        list_name=found.list_name,
        list_version=found.list_version,
        start=found.start,
        end=found.end,
        digest=found.digest,
    )


def _signals(score: Score, verdict: InjectionVerdict) -> Sequence[Mark]:
    return [
        Mark(
            direction=Direction.INPUT,
            source=Source.INJECTION,
            rule=signal.name,
            category=signal.kind,
            severity=_SEVERITIES[verdict],
            action=Action(verdict),
            start=signal.span[0],
            end=signal.span[1],
            score=score.value,
        )
        for signal in score.signals
    ]
