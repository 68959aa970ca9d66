"""What a list that is not in force would do, beside what is in force."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from gateway.domain.moderation.injection import InjectionScorer
from gateway.domain.moderation.phrase_book import PhraseBook
from gateway.domain.moderation.phrases import Action, Phrase
from gateway.errors import PhraseListInvalid, PhraseListNotFound
from gateway.list_trial import KeptCandidate, ListTrial, NewCandidate, Trial, TriedText
from gateway.moderation_ports import KeptList, ListDirection, ListId
from gateway.phrase_list_cases import ListContent, NewList, PhraseListCases
from sessions.adapters.memory_records import MemoryRecords
from sessions.domain.moderation import Direction, Verdict
from sessions.domain.scenario import ScenarioId
from sessions.domain.session import Session
from sessions.domain.turn import Turn
from sessions.errors import ScenarioNotFound, TextEmpty
from tests.support.moderated import LENIENT, FixedRules, live_rules
from tests.support.moderation_stores import SCENARIO, Stores, memory_stores
from tests.support.records_fixture import write_scenarios
from tests.support.records_world import ELSEWHERE, HERE, session, turn, uuid_of
from tests.support.session_fakes import FakeClock


def content(*texts: str, action: Action = Action.BLOCK, allowed: tuple[str, ...] = ()) -> ListContent:
    return ListContent(tuple(Phrase(f"r{at}", text, "test", action=action) for at, text in enumerate(texts)), allowed)


class World:
    """Lists in memory; what is in force follows them where a test says so."""

    def __init__(self) -> None:
        self.stores: Stores = memory_stores()
        self.records = MemoryRecords()
        self.lists = PhraseListCases(lists=self.stores.lists, clock=FakeClock())
        self.keeper = FixedRules(live_rules())
        self.trial = ListTrial(
            lists=self.stores.lists,
            source=self.stores.rules,
            keeper=self.keeper,
            scorer=InjectionScorer(),
            records=self.records,
        )

    async def in_force(self, name: str, said: ListContent) -> KeptList:
        kept = await self.lists.create(HERE.teacher, NewList(name, said, is_live=True))
        lists = (await self.stores.rules.of_tenant(HERE.tenant)).lists
        self.keeper.now = live_rules([await self.stores.rules.phrases(HERE.tenant, one) for one in lists])
        return kept

    async def said(self, of: Session, *turns: Turn) -> None:
        async with self.records.begin() as work:
            await work.sessions.add(replace(of, turn_count=len(turns)), None)
            for one in turns:
                await work.turns.add(one)

    async def of_texts(self, candidate: KeptCandidate | NewCandidate, *texts: str) -> Sequence[TriedText]:
        return (await self.trial(HERE.teacher, Trial(candidate, texts))).texts


@pytest.fixture
async def world() -> World:
    made = World()
    await write_scenarios(made.records)
    return made


def verdicts(tried: Sequence[TriedText]) -> list[tuple[Verdict, Verdict]]:
    return [(one.before.judgement.verdict, one.after.judgement.verdict) for one in tried]


async def test_phrases_that_no_list_holds_are_tried_beside_what_is_in_force(world: World) -> None:
    await world.in_force("old", content("old word"))
    tried = await world.of_texts(NewCandidate(content("new word")), "an old word", "a new word", "nothing")
    assert verdicts(tried) == [
        (Verdict.BLOCK, Verdict.BLOCK),
        (Verdict.ALLOW, Verdict.BLOCK),
        (Verdict.ALLOW, Verdict.ALLOW),
    ]
    assert [one.changes for one in tried] == [False, True, False]
    assert not (await world.stores.rules.of_tenant(ELSEWHERE.tenant)).lists


async def test_another_version_takes_the_place_of_the_one_in_force(world: World) -> None:
    kept = await world.in_force("words", content("old word"))
    await world.lists.add_version(HERE.teacher, kept.id, content("new word", action=Action.FLAG))
    tried = await world.of_texts(KeptCandidate(kept.id), "an old word", "a new word")
    assert verdicts(tried) == [(Verdict.BLOCK, Verdict.ALLOW), (Verdict.ALLOW, Verdict.FLAG)]
    assert [one.changes for one in tried] == [True, True]
    first = await world.of_texts(KeptCandidate(kept.id, 1), "an old word")
    assert verdicts(first) == [(Verdict.BLOCK, Verdict.BLOCK)]
    assert not first[0].changes


async def test_what_a_list_allows_pardons_what_others_ban(world: World) -> None:
    await world.in_force("old", content("old word"))
    tried = await world.of_texts(NewCandidate(content(allowed=("an old word of honour",))), "an old word of honour")
    assert verdicts(tried) == [(Verdict.BLOCK, Verdict.ALLOW)]


async def test_a_list_for_one_direction_is_tried_in_it(world: World) -> None:
    new = NewList("out", content("new word"), direction=ListDirection.OUTPUT)
    kept = await world.lists.create(HERE.teacher, new)
    (reply,) = await world.of_texts(KeptCandidate(kept.id), "a new word")
    assert (reply.direction, reply.after.text) == (Direction.OUTPUT, "a ")
    asked = Trial(KeptCandidate(kept.id), ("a new word",), direction=ListDirection.INPUT)
    (message,) = (await world.trial(HERE.teacher, asked)).texts
    assert (message.direction, message.after.text) == (Direction.INPUT, "a new word")


async def test_the_latest_turns_are_looked_through_the_newest_first(world: World) -> None:
    early, late = session("early"), session("late", minutes=1)
    await world.said(late, turn(1, of=late))
    await world.said(early, turn(1, of=early), turn(2, of=early))
    await world.said(session("theirs", ELSEWHERE), turn(1, of=session("theirs", ELSEWHERE)))
    trial = Trial(NewCandidate(content("Message 2")), recent_turns=2)
    tried = (await world.trial(HERE.teacher, trial)).texts
    assert [(one.session, one.turn, one.direction) for one in tried] == [
        (early.id, 2, Direction.INPUT),
        (early.id, 2, Direction.OUTPUT),
        (late.id, 1, Direction.INPUT),
        (late.id, 1, Direction.OUTPUT),
    ]
    assert [one.changes for one in tried] == [True, False, False, False]
    replies = replace(trial, recent_turns=10, direction=ListDirection.OUTPUT)
    assert {one.direction for one in (await world.trial(HERE.teacher, replies)).texts} == {Direction.OUTPUT}


async def test_turns_meet_the_lists_of_their_scenario(world: World) -> None:
    await world.said(session(), turn())
    ours = NewList("ours", content("Message 1"), ScenarioId(SCENARIO), is_live=True)
    await world.lists.create(HERE.teacher, ours)
    tried = (
        await world.trial(HERE.teacher, Trial(NewCandidate(content("else")), ("Message 1",), recent_turns=1))
    ).texts
    assert [one.after.judgement.verdict for one in tried] == [Verdict.ALLOW, Verdict.BLOCK, Verdict.ALLOW]
    other = Trial(NewCandidate(content("Message 1"), ScenarioId(uuid_of("nowhere"))), recent_turns=1)
    with pytest.raises(ScenarioNotFound):
        await world.trial(HERE.teacher, other)


async def test_what_cannot_be_tried_is_told(world: World) -> None:
    with pytest.raises(PhraseListInvalid):
        await world.of_texts(NewCandidate(content(" ")), "a text")
    with pytest.raises(TextEmpty):
        await world.of_texts(NewCandidate(content("word")), "a text", " ")
    kept = await world.in_force("words", content("old word"))
    for missing in (KeptCandidate(kept.id, 2), KeptCandidate(ListId(uuid_of("nowhere")))):
        with pytest.raises(PhraseListNotFound):
            await world.of_texts(missing, "a text")
    with pytest.raises(PhraseListNotFound):
        await world.trial(ELSEWHERE.teacher, Trial(KeptCandidate(kept.id), ("a text",)))


async def test_equal_books_are_made_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    class Counted(PhraseBook):
        def __init__(self, lists: object) -> None:
            made.append(1)
            super().__init__(lists)  # type: ignore[arg-type]  # whatever a book is made of

    monkeypatch.setattr("gateway.list_trial.PhraseBook", Counted)
    await world.said(session(), turn())
    await world.trial(HERE.teacher, Trial(NewCandidate(content("word")), ("a text",), recent_turns=1))
    assert made == [1]
    assert world.keeper.now.policy == LENIENT
