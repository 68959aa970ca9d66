"""Phrase lists as staff write them."""

import pytest

from gateway.domain.moderation.phrases import Phrase
from gateway.errors import PhraseListExists, PhraseListInvalid, PhraseListNotFound
from gateway.moderation_ports import ListDirection
from gateway.phrase_list_cases import ListContent, NewList, PhraseListCases
from sessions.domain.scenario import ScenarioId
from sessions.errors import ScenarioNotFound
from tests.support.moderation_stores import SCENARIO, Stores, memory_stores
from tests.support.records_world import ELSEWHERE, HERE, uuid_of
from tests.support.session_fakes import FakeClock


def content(*texts: str, allowed: tuple[str, ...] = ()) -> ListContent:
    return ListContent(tuple(Phrase(str(at), text, "test") for at, text in enumerate(texts, start=1)), allowed)


@pytest.fixture
def stores() -> Stores:
    return memory_stores()


@pytest.fixture
def cases(stores: Stores) -> PhraseListCases:
    return PhraseListCases(lists=stores.lists, clock=FakeClock())


async def test_a_list_is_in_force_only_when_it_is_asked_to_be(cases: PhraseListCases, stores: Stores) -> None:
    quiet = await cases.create(HERE.teacher, NewList("quiet", content("secret word")))
    assert (quiet.live_version, quiet.latest_version, quiet.direction) == (None, 1, ListDirection.BOTH)
    assert not (await stores.rules.of_tenant(HERE.tenant)).lists
    new = NewList("loud", content("secret word"), ScenarioId(SCENARIO), ListDirection.OUTPUT, is_live=True)
    loud = await cases.create(HERE.teacher, new)
    (live,) = (await stores.rules.of_tenant(HERE.tenant)).lists
    assert (live.list, live.version, live.scenario, live.direction) == (loud.id, 1, SCENARIO, ListDirection.OUTPUT)
    back = await cases.go_live(HERE.teacher, loud.id, None)
    assert back.live_version is None


async def test_a_faulty_list_is_refused_with_every_fault(cases: PhraseListCases) -> None:
    bad = content("fine", "  ", "x", allowed=("!",))
    with pytest.raises(PhraseListInvalid) as refused:
        await cases.create(HERE.teacher, NewList("bad", bad))
    assert [place for place, _ in refused.value.faults] == ["phrases.1.text", "phrases.2.text", "allowed.0"]
    kept = await cases.create(HERE.teacher, NewList("good", content("fine")))
    with pytest.raises(PhraseListInvalid):
        await cases.add_version(HERE.teacher, kept.id, bad)
    assert [one.version for one in await cases.versions(HERE.teacher, kept.id)] == [1]


async def test_the_next_version_is_written_once(cases: PhraseListCases) -> None:
    kept = await cases.create(HERE.teacher, NewList("words", content("one word"), is_live=True))
    added, is_new = await cases.add_version(HERE.teacher, kept.id, content("two words", allowed=("two words more",)))
    assert (added.version, is_new) == (2, True)
    again, is_new = await cases.add_version(HERE.teacher, kept.id, content("two words", allowed=("two words more",)))
    assert (again, is_new) == (added, False)
    assert (await cases.read(HERE.teacher, kept.id)).live_version == 1
    back, is_new = await cases.add_version(HERE.teacher, kept.id, content("one word"))
    assert (back.version, is_new) == (3, True)


async def test_names_and_scenarios_are_checked(cases: PhraseListCases) -> None:
    await cases.create(HERE.teacher, NewList("words", content("one word")))
    with pytest.raises(PhraseListExists):
        await cases.create(HERE.teacher, NewList("words", content("other word")))
    with pytest.raises(ScenarioNotFound):
        await cases.create(HERE.teacher, NewList("more", content("a word"), ScenarioId(uuid_of("nowhere"))))


async def test_of_another_tenant_there_is_nothing(cases: PhraseListCases) -> None:
    kept = await cases.create(HERE.teacher, NewList("words", content("one word")))
    stranger = ELSEWHERE.teacher
    for asked in (
        cases.read(stranger, kept.id),
        cases.version(stranger, kept.id, 1),
        cases.add_version(stranger, kept.id, content("other")),
        cases.go_live(stranger, kept.id, 1),
        cases.archive(stranger, kept.id),
    ):
        with pytest.raises(PhraseListNotFound):
            await asked
    assert not (await cases.page(stranger, 10, None)).items


async def test_what_is_archived_is_out_of_force_for_good(cases: PhraseListCases, stores: Stores) -> None:
    kept = await cases.create(HERE.teacher, NewList("words", content("one word"), is_live=True))
    await cases.archive(HERE.teacher, kept.id)
    assert not (await stores.rules.of_tenant(HERE.tenant)).lists
    with pytest.raises(PhraseListNotFound):
        await cases.go_live(HERE.teacher, kept.id, 1)
    assert (await cases.read(HERE.teacher, kept.id)).archived_at is not None
