"""Which lists may be used, and how several become one."""

import pytest

from gateway.domain.moderation.folding import Folding
from gateway.domain.moderation.phrases import (
    LONGEST_PHRASE,
    MOST_PHRASES,
    Action,
    Fault,
    Phrase,
    PhraseList,
    Reason,
    Rule,
    Spelling,
    faults,
    merged,
    spellings,
)
from tests.support.phrase_lists import BANNED, phrases

FOLDING = Folding()


def of(*texts: str, **options: object) -> PhraseList:
    return PhraseList("tenant", 3, phrases(*texts), **options)  # type: ignore[arg-type]


def test_a_list_of_all_kinds_of_phrases_may_be_used() -> None:
    pinyin = Phrase("p", "fa lún gong", "test", spelling=Spelling.PINYIN)
    assert faults(PhraseList("tenant", 1, (*phrases(*BANNED, "操"), pinyin), ("法轮常转",)), FOLDING) == ()


@pytest.mark.parametrize("text", ["", "   ", "\n", "...", "🙂", "\u200b\u200d", "\u0301", "￥"])
def test_a_phrase_of_which_nothing_is_left_is_refused(text: str) -> None:
    assert faults(PhraseList("tenant", 1, (Phrase("a", text, "test"),)), FOLDING) == (Fault(Reason.EMPTY, 0),)


@pytest.mark.parametrize("text", ["a", "7", " (Q) ", "é"])
def test_a_single_letter_is_refused_and_a_single_ideograph_is_not(text: str) -> None:
    assert faults(PhraseList("tenant", 1, (Phrase("a", text, "test"),)), FOLDING) == (Fault(Reason.TOO_SHORT, 0),)
    assert faults(of("操"), FOLDING) == ()


@pytest.mark.parametrize("text", ["x" * (LONGEST_PHRASE + 1), "法" * (LONGEST_PHRASE + 1), "㍿" * LONGEST_PHRASE])
def test_a_long_phrase_is_refused_as_it_is_written_and_as_it_is_read(text: str) -> None:
    assert faults(PhraseList("tenant", 1, (Phrase("a", text, "test"),)), FOLDING) == (Fault(Reason.TOO_LONG, 0),)


def test_a_phrase_may_be_as_long_as_it_is_said() -> None:
    assert faults(of(allowed=("x" * (LONGEST_PHRASE - 2), "法" * LONGEST_PHRASE)), FOLDING) == ()


@pytest.mark.parametrize("name", ["", "x" * 65, "a\nb"])
def test_names_are_short_and_printable(name: str) -> None:
    found = faults(PhraseList("tenant", 1, (Phrase(name, "spam", name),)), FOLDING)
    assert found == (Fault(Reason.ID_INVALID, 0), Fault(Reason.CATEGORY_INVALID, 0))


def test_an_id_stands_for_one_phrase() -> None:
    twice = (Phrase("a", "spam", "test"), Phrase("b", "eggs", "test"), Phrase("a", "bacon", "test"))
    found = faults(PhraseList("tenant", 1, twice), FOLDING)
    assert found == (Fault(Reason.ID_REPEATED, 0), Fault(Reason.ID_REPEATED, 2))


@pytest.mark.parametrize("text", ["法轮", "fa 轮", "fa1 lun2", "a b c d e f g", "привет дом"])
def test_pinyin_is_a_few_syllables(text: str) -> None:
    found = faults(PhraseList("tenant", 1, phrases(text, spelling=Spelling.PINYIN)), FOLDING)
    assert found == (Fault(Reason.NOT_SYLLABLES, 0),)


def test_allowed_phrases_are_looked_at_too() -> None:
    assert faults(of("spam", allowed=("spam and eggs", " ")), FOLDING) == (Fault(Reason.EMPTY, 1, "allowed"),)


def test_nothing_of_a_list_without_end_is_looked_at() -> None:
    found = faults(of("", allowed=("",) * MOST_PHRASES), FOLDING)
    assert found == (Fault(Reason.TOO_MANY, MOST_PHRASES),)
    assert MOST_PHRASES >= 20_000


def test_pinyin_may_be_run_together_anywhere() -> None:
    (phrase,) = phrases("fa lun gong", spelling=Spelling.PINYIN)
    forms = {" falungong ", " falun gong ", " fa lungong ", " fa lun gong "}
    assert set(spellings(phrase, " fa lun gong ")) == forms
    assert spellings(phrases("fa lun")[0], " fa lun ") == (" fa lun ",)


def test_of_two_rules_with_the_same_words_the_stricter_is_used_and_of_equals_the_first() -> None:
    tenant = PhraseList(
        "tenant", 1, (Phrase("t-1", "spam", "a", action=Action.MASK), Phrase("t-2", "eggs", "a", action=Action.MASK))
    )
    scenario = PhraseList(
        "scenario",
        9,
        (Phrase("s-1", "ＳＰＡＭ", "b", action=Action.BLOCK), Phrase("s-2", "Eggs!", "b", action=Action.MASK)),
    )
    assert [(rule.phrase.id, rule.list_name, rule.list_version) for rule in merged([tenant, scenario], FOLDING)] == [
        ("s-1", "scenario", 9),
        ("t-2", "tenant", 1),
    ]


def test_another_spelling_is_another_rule() -> None:
    both = (Phrase("a", "spam", "x"), Phrase("b", "spam", "x", action=Action.FLAG, spelling=Spelling.LEET))
    assert [rule.phrase.id for rule in merged([PhraseList("tenant", 1, both)], FOLDING)] == ["a", "b"]


def test_what_nobody_checked_and_is_empty_is_left_out() -> None:
    (phrase,) = phrases("spam")
    assert merged([of("...", "spam")], FOLDING) == (Rule(phrase, " spam ", "tenant", 3),)
