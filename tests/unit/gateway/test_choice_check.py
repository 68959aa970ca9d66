"""The texts of one choice are checked each by itself, and ended together."""

from gateway.choice_check import ChoiceCheck, merged
from gateway.domain.openai_said import CONTENT, Place
from tests.support.moderated import banned, released_by

REASONING, NAME, ARGUMENTS = Place("reasoning"), Place("name", 0), Place("arguments", 0)


def check() -> ChoiceCheck:
    return ChoiceCheck(released_by(banned("secret word")))


async def test_what_is_held_of_one_text_does_not_hold_another() -> None:
    one = check()
    assert await one.feed([(REASONING, "a secret"), (CONTENT, "Well")]) == {REASONING: "a ", CONTENT: "Well"}
    assert await one.finish() == {REASONING: "secret", CONTENT: ""}
    assert (one.is_blocked, one.is_over) == (False, True)


async def test_a_phrase_is_none_where_its_halves_stand_in_two_texts() -> None:
    one = check()
    await one.feed([(REASONING, "secret"), (CONTENT, " word")])
    assert await one.finish() == {REASONING: "secret", CONTENT: ""}
    assert not one.is_blocked


async def test_behind_a_block_nothing_is_told_of_any_text() -> None:
    one = check()
    told = await one.feed([(REASONING, "a secret"), (CONTENT, "the secret word!"), (ARGUMENTS, "{}")])
    told = merged(told, await one.finish())
    assert (one.is_blocked, told) == (True, {REASONING: "a secret", CONTENT: "the ", ARGUMENTS: "", NAME: ""})


async def test_a_block_that_shows_at_the_end_ends_what_was_said_later() -> None:
    one = check()
    assert await one.feed([(REASONING, "a secret word"), (CONTENT, "a secret")]) == {REASONING: "a ", CONTENT: "a "}
    assert await one.finish() == {REASONING: ""}
    assert one.is_blocked


async def test_a_name_is_over_once_the_arguments_begin() -> None:
    one = check()
    assert await one.feed([(NAME, "secret")]) == {NAME: ""}
    assert await one.feed([(ARGUMENTS, "{")]) == {ARGUMENTS: "{", NAME: "secret"}
    assert await one.feed([(NAME, "more"), (ARGUMENTS, "}")]) == {NAME: "", ARGUMENTS: "}"}


def test_what_is_merged_comes_one_after_the_other() -> None:
    assert merged({CONTENT: "a"}, {CONTENT: "b", NAME: "c"}) == {CONTENT: "ab", NAME: "c"}
