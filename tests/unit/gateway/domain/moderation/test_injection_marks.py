"""That each listed phrase is found, the longest first, also in disguise."""

from collections.abc import Iterator

import pytest

from gateway.domain.moderation import injection_chinese, injection_english, injection_english_world
from gateway.domain.moderation import injection_concepts as c
from gateway.domain.moderation.folding import Folding
from gateway.domain.moderation.injection_marks import Lexicon

LEXICON = Lexicon(Folding())


def found(text: str) -> list[tuple[str, int]]:
    read = LEXICON.read(text).text
    return [(read[mark.start : mark.end], mark.bits) for mark in LEXICON.marks(read).found]


def listed() -> Iterator[tuple[str, int]]:
    english = (*injection_english.PHRASES.items(), *injection_english_world.PHRASES.items())
    for bits, phrases in english:
        yield from ((" ".join(phrase.split()), bits) for phrase in phrases.split(","))
    for bits, phrases in injection_chinese.PHRASES.items():
        yield from ((phrase, bits) for phrase in phrases.split())


def test_each_listed_phrase_stands_for_its_notion() -> None:
    lost = [phrase for phrase, bits in listed() if not any(mark & bits == bits for _, mark in found(phrase))]
    assert not lost


def test_the_longest_phrase_is_taken_and_its_words_are_spent() -> None:
    assert found("your system prompt") == [("your", c.YOURS), ("system prompt", c.PROMPT)]
    assert found("系统提示词") == [("系统提示词", c.PROMPT)]


def test_a_word_inside_a_word_is_none() -> None:
    assert found("rulers, calling") == [(",", c.COMMA)]


def test_a_phrase_at_the_end_is_whole_or_none() -> None:
    assert found("do not") == []
    assert [text for text, _ in found("没有任何")] == ["没有任何"]


def test_what_holds_a_notion_s_word_and_means_something_else_is_nothing() -> None:
    assert found("系统提示我")[0] == ("系统提示我", c.NOTHING)


def test_words_and_ideographs_stand_in_their_order() -> None:
    assert [text for text, _ in found("忽略 previous 指令")] == ["忽略", "previous", "指令"]


@pytest.mark.parametrize(
    ("text", "disguised"), [("1gn0r3 ru1es", 1), ("1gn0r3 pr3vi0us", 2), ("ignore rules", 0), ("a1b2 42", 0)]
)
def test_figures_are_taken_for_letters_where_that_makes_a_word(text: str, disguised: int) -> None:
    assert LEXICON.marks(text).disguised == disguised


def test_very_long_words_are_not_tried() -> None:
    assert found("1gn0r3" + "x" * 30) == []


@pytest.mark.parametrize(("text", "bits"), [("tpmorp", c.REVERSED), ("cebzcg", c.ROTATED), ("词示提", c.REVERSED)])
def test_tell_tale_words_are_known_backwards_and_rotated(text: str, bits: int) -> None:
    assert found(text) == [(text, bits)]
