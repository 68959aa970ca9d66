"""A note tells nothing that is banned now, though its turns did."""

import pytest

from gateway.domain.moderation.injection import InjectionScorer
from gateway.domain.moderation.phrase_book import PhraseBook
from gateway.domain.moderation.phrases import Action
from gateway.moderation_desk import ModerationDesk
from gateway.moderation_ports import Live
from sessions.use_cases.censored_note import censored
from tests.support.moderated import LENIENT, FixedRules, banned, moderation
from tests.support.session_fakes import viewer

NOTE = "The desk is late.\nHe wants free money.\nShe said 12 May.\nfree\nmoney for all"


async def left(note: str, *, action: Action = Action.BLOCK, most: int = 1000) -> str:
    rules = await moderation(banned("free money", action=action)).rules(viewer().tenant)
    return await censored(rules, note, fits=lambda text: len(text) <= most)


async def test_lines_with_what_is_banned_are_left_out_also_where_it_goes_over_two() -> None:
    assert await left(NOTE) == "The desk is late.\nShe said 12 May.\nmoney for all"


async def test_what_people_may_not_say_is_left_out_too() -> None:
    keeper = FixedRules(Live(PhraseBook([banned("free money")]), PhraseBook([]), LENIENT))
    rules = await ModerationDesk(keeper=keeper, scorer=InjectionScorer()).rules(viewer().tenant)
    told = await censored(rules, NOTE, fits=lambda _: True)
    assert told == "The desk is late.\nShe said 12 May.\nmoney for all"


async def test_what_is_masked_stays_in_its_line() -> None:
    assert await left("He wants free money.", action=Action.MASK) == "He wants ***."


@pytest.mark.parametrize(
    ("note", "kept"), [("free money", ""), ("free money\nno free money", ""), ("a desk", "a desk")]
)
async def test_nothing_or_all_may_be_left(note: str, kept: str) -> None:
    assert await left(note) == kept


async def test_what_is_too_long_loses_its_last_lines() -> None:
    assert await left("one\ntwo\nfree money\nthree", most=7) == "one\ntwo"
    assert await left("one", most=2) == ""
