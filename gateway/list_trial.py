"""What a list that is not in force would do: texts are read by what is in force now, and again with the list among it.

Only the deterministic stage is asked; nothing is kept. Books are made for it, so one trial runs at a time.
"""

import asyncio
from collections.abc import AsyncIterator, Hashable, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from typing_extensions import override

from gateway.domain.moderation.injection import InjectionScorer
from gateway.domain.moderation.phrase_book import PhraseBook
from gateway.domain.moderation.phrases import PhraseList
from gateway.errors import FieldInvalid, PhraseListNotFound
from gateway.moderation_desk import ModerationDesk
from gateway.moderation_ports import (
    ListDirection,
    ListId,
    Live,
    LiveList,
    PhraseLists,
    RuleKeeper,
    RuleSource,
)
from gateway.phrase_books import beside_turns
from gateway.phrase_list_cases import ListContent, must_be_usable
from gateway.text_check import CheckedAs, fit, judged
from sessions.domain.moderation import Direction, Moderated
from sessions.domain.scenario import ScenarioId
from sessions.domain.session import SessionFilter, SessionId
from sessions.domain.viewer import Viewer
from sessions.moderation_ports import Rules
from sessions.ports import Records
from sessions.use_cases.read_scenario import known_scenario

_SESSIONS = 100
"""The newest ones, whose turns are looked through for the latest."""
MOST_CHARACTERS = 500_000
"""Of all texts that are given; more would keep others waiting for long."""
_UNSAVED = ListId(UUID(int=0))
_WAYS = {Direction.INPUT: CheckedAs.MESSAGE, Direction.OUTPUT: CheckedAs.REPLY}


@dataclass(frozen=True, slots=True)
class KeptCandidate:
    """A version of a list that is kept; by default the latest."""

    list: ListId
    version: int | None = None


@dataclass(frozen=True, slots=True)
class NewCandidate:
    """Phrases that no list holds yet."""

    content: ListContent
    scenario: ScenarioId | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    candidate: KeptCandidate | NewCandidate
    texts: tuple[str, ...] = ()
    recent_turns: int = 0
    direction: ListDirection = ListDirection.BOTH
    """What is looked at of turns; given texts are messages unless it is `output`."""


@dataclass(frozen=True, slots=True)
class TriedText:
    direction: Direction
    before: Moderated
    after: Moderated
    session: SessionId | None = None
    turn: int | None = None
    """None, like the session: it was given."""

    @property
    def changes(self) -> bool:
        """Whether somebody would hear or read something else."""
        return (self.before.judgement.verdict, self.before.text) != (self.after.judgement.verdict, self.after.text)


@dataclass(frozen=True, slots=True)
class TrialResult:
    candidate: LiveList | None
    """None: the phrases were given."""
    texts: tuple[TriedText, ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    live: LiveList
    phrases: PhraseList


@dataclass(frozen=True, slots=True)
class _Said:
    """A text that is to be read, and where it was said."""

    text: str
    direction: Direction
    scenario: ScenarioId | None
    session: SessionId | None = None
    turn: int | None = None


class ListTrial:
    def __init__(
        self, *, lists: PhraseLists, source: RuleSource, keeper: RuleKeeper, scorer: InjectionScorer, records: Records
    ) -> None:
        self._lists = lists
        self._source = source
        self._keeper = keeper
        self._scorer = scorer
        self._records = records
        self._alone = asyncio.Lock()

    async def __call__(self, viewer: Viewer, trial: Trial) -> TrialResult:
        """Raises `PhraseListNotFound`, `PhraseListInvalid`, `ScenarioNotFound`, `TextEmpty`, `FieldInvalid` or
        `ModerationUnavailable`.
        """
        texts = [fit(f"texts.{at}", text) for at, text in enumerate(trial.texts)]
        if sum(map(len, texts)) > MOST_CHARACTERS:
            raise FieldInvalid("texts", f"they have at most {MOST_CHARACTERS} characters together")
        async with self._alone:
            candidate = await self._candidate(viewer, trial.candidate)
            directions = tuple(_directions(candidate.live.direction, trial.direction))
            scenario = None if candidate.live.scenario is None else ScenarioId(candidate.live.scenario)
            said = [_Said(text, _spoken(trial.direction, candidate.live.direction), scenario) for text in texts]
            if trial.recent_turns:
                said += await self._recent(viewer, trial.recent_turns, scenario, directions)
            comparison = _Comparison(viewer, candidate, source=self._source, keeper=self._keeper, scorer=self._scorer)
            tried = tuple([each async for each in comparison.of(said)])
        return TrialResult(None if candidate.live.list == _UNSAVED else candidate.live, tried)

    async def _candidate(self, viewer: Viewer, asked: KeptCandidate | NewCandidate) -> _Candidate:
        if isinstance(asked, NewCandidate):
            if asked.scenario is not None:
                async with self._records.begin() as work:
                    await known_scenario(work, viewer.tenant, asked.scenario)
            phrases = asked.content.named("dry-run", 1)
            await must_be_usable(phrases)
            return _Candidate(LiveList(_UNSAVED, 1, asked.scenario, ListDirection.BOTH), phrases)
        kept = await self._lists.get(viewer.tenant, asked.list)
        if kept is None:
            raise PhraseListNotFound
        found = await self._lists.version(viewer.tenant, kept.id, asked.version or kept.latest_version)
        if found is None:
            raise PhraseListNotFound
        return _Candidate(LiveList(kept.id, found.version, kept.scenario, kept.direction), found.phrases)

    async def _recent(
        self, viewer: Viewer, count: int, scenario: ScenarioId | None, directions: Sequence[Direction]
    ) -> list[_Said]:
        """What was said in the latest turns, the newest first."""
        async with self._records.begin() as work:
            page = await work.sessions.list(viewer, SessionFilter(), limit=_SESSIONS)
            fitting = [one for one in page.items if one.turn_count and scenario in (None, one.scenario)]
            turns = [
                (turn, one)
                for one in fitting
                for turn in await work.turns.page(one.id, limit=count, after=max(0, one.turn_count - count))
            ]
        latest = sorted(turns, key=lambda found: found[0].ended_at, reverse=True)[:count]
        return [
            _Said(text, direction, one.scenario, one.id, turn.number)
            for turn, one in latest
            for direction, text in ((Direction.INPUT, turn.text), (Direction.OUTPUT, turn.reply))
            if text.strip() and direction in directions
        ]


class _Comparison:
    """The rules of each scenario that is met, as they are and as they would be; equal books are made once."""

    def __init__(
        self, viewer: Viewer, candidate: _Candidate, *, source: RuleSource, keeper: RuleKeeper, scorer: InjectionScorer
    ) -> None:
        self._viewer = viewer
        self._candidate = candidate
        self._source = source
        self._keeper = keeper
        self._scorer = scorer
        self._phrases = {_key(candidate.live): candidate.phrases}
        self._books: dict[tuple[Hashable, ...], PhraseBook] = {}

    async def of(self, said: Sequence[_Said]) -> AsyncIterator[TriedText]:
        rules = {scenario: await self._both(scenario) for scenario in {each.scenario for each in said}}
        for each in said:
            before, after = [await judged(one, each.text, _WAYS[each.direction]) for one in rules[each.scenario]]
            yield TriedText(each.direction, before, after, each.session, each.turn)

    async def _both(self, scenario: ScenarioId | None) -> tuple[Rules, Rules]:
        now = await self._keeper.live(self._viewer.tenant, scenario)
        in_force = (await self._source.of_tenant(self._viewer.tenant)).lists
        lists = [*(one for one in in_force if one.list != self._candidate.live.list), self._candidate.live]
        then = Live(
            input=await self._book([one for one in lists if one.is_for(scenario, ListDirection.INPUT)]),
            output=await self._book([one for one in lists if one.is_for(scenario, ListDirection.OUTPUT)]),
            policy=now.policy,
        )
        return await self._rules(now), await self._rules(then)

    async def _rules(self, live: Live) -> Rules:
        return await ModerationDesk(keeper=_Fixed(live), scorer=self._scorer).rules(self._viewer.tenant)

    async def _book(self, lists: Sequence[LiveList]) -> PhraseBook:
        for one in lists:
            if _key(one) not in self._phrases:
                self._phrases[_key(one)] = await self._source.phrases(self._viewer.tenant, one)
        name = tuple(_key(one) for one in lists)
        if name not in self._books:
            with beside_turns():
                self._books[name] = await asyncio.to_thread(PhraseBook, [self._phrases[key] for key in name])
        return self._books[name]


class _Fixed(RuleKeeper):
    def __init__(self, live: Live) -> None:
        self._live = live

    @override
    async def live(self, tenant: UUID, scenario: UUID | None) -> Live:
        return self._live


def _key(one: LiveList) -> tuple[ListId, int]:
    return one.list, one.version


def _directions(*asked: ListDirection) -> Iterator[Direction]:
    """Those that all of them hold."""
    for direction in Direction:
        if all(one in (ListDirection.BOTH, ListDirection(direction)) for one in asked):
            yield direction


def _spoken(*asked: ListDirection) -> Direction:
    """How a given text is read: as the first of these says that is for one direction alone."""
    one = next((each for each in asked if each is not ListDirection.BOTH), ListDirection.INPUT)
    return Direction(one)
