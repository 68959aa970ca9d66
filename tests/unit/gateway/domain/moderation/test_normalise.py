"""How texts are read, and where in the raw text that came from."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.moderation.folding import Folding, Kind
from gateway.domain.moderation.normalise import Normaliser, normalise
from tests.support.strange_texts import PIECES

FOLDING = Folding()
STAND_INS = Folding(stand_ins=True)

texts = st.lists(st.sampled_from(PIECES) | st.characters(), max_size=12).map("".join)


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("", ""),
        ("...", ""),
        ("Hello, World!", " hello world "),
        ("加 我。V-X!", "加我 v x "),
        ("法 輪\n\n。功", "法轮功"),
        ("第3名", "第 3 名"),
        ("e\u0301t\u200be\u0301", " ete "),
        ("か\u3099, か\u200b\u3099, か \u3099, \u3099あ\u3099", "ががかあ"),
        ("ｶﾞ", "ガ"),
        ("\u1112\u1161\u11ab\u1100\u1161", "한가"),
        ("\u1161\u11a8", "\u1161\u11a8"),
        ("か\u1161", "か\u1161"),
        ("가x", "가 x "),
    ],
)
def test_a_text_reads(text: str, reads: str) -> None:
    assert normalise(text, FOLDING).text == reads


@pytest.mark.parametrize(
    ("text", "reads"),
    [("k!ll!", " kiii "), ("!x", " x "), ("a!!", " a "), ("a! b", " a b "), ("a!法", " a 法"), ("$pam", " spam ")],
)
def test_signs_that_end_words_are_letters_only_between_letters(text: str, reads: str) -> None:
    assert normalise(text, STAND_INS).text == reads


def test_each_symbol_knows_its_raw_place() -> None:
    read = normalise("A\u0301, ㍿が", FOLDING)
    assert read.text == " a 株式会社が"
    assert read.spans == ((0, 0), (0, 1), (2, 2), (4, 5), (4, 5), (4, 5), (4, 5), (5, 6))


def test_a_word_within_one_character_ends_behind_it() -> None:
    read = normalise("⒨x", FOLDING)
    assert (read.text, read.spans) == (" m x ", ((0, 0), (0, 1), (1, 1), (1, 2), (2, 2)))


@pytest.mark.parametrize(
    ("text", "resumed"),
    [
        ("ab-cd", "c"),
        ("ab--*cd", "c"),
        ("ab cd", ""),
        ("ab- cd", ""),
        ("ab -cd", ""),
        ("ab\n", ""),
        ("it's", ""),
        ("a法-b", ""),
        ("-a", ""),
        ("a-b-c", "bc"),
        ("a🇧c", "bc"),
        ("法🇧", ""),
    ],
)
def test_a_letter_behind_a_sign_may_go_on_the_word_before(text: str, resumed: str) -> None:
    normaliser = Normaliser(FOLDING)
    symbols = [symbol for at, raw in enumerate(text) for symbol in normaliser.take(raw, at)]
    assert "".join(char for char, kind, _, _ in symbols if kind is Kind.RESUMED) == resumed


@pytest.mark.parametrize(
    ("text", "may_resume"), [("ab", False), ("ab-", True), ("ab-*", True), ("ab- ", False), ("法-", False)]
)
def test_it_knows_whether_the_last_word_may_go_on(text: str, may_resume: bool) -> None:
    normaliser = Normaliser(FOLDING)
    for at, raw in enumerate(text):
        normaliser.take(raw, at)
    assert normaliser.may_resume is may_resume


def test_a_voiced_character_has_the_place_of_both_its_parts() -> None:
    assert normalise("xか\u200b\u3099", FOLDING).spans[-1] == (1, 4)


def test_a_sign_at_the_end_of_a_word_stands_behind_its_edge() -> None:
    assert normalise("ab!?", STAND_INS).spans[-1] == (2, 2)


def test_what_the_next_character_may_change_is_told() -> None:
    normaliser = Normaliser(FOLDING)
    assert normaliser.take("x", 0)
    assert normaliser.undecided() is None
    normaliser.take("か", 1)
    assert normaliser.undecided() == 1
    normaliser.take("x", 2)
    assert normaliser.undecided() is None


@given(texts)
def test_places_follow_each_other_and_lie_in_the_text(text: str) -> None:
    read = normalise(text, FOLDING)
    assert len(read.spans) == len(read.text)
    assert all(0 <= start <= end <= len(text) for start, end in read.spans)
    starts = [start for char, (start, _) in zip(read.text, read.spans, strict=True) if char != " "]
    assert starts == sorted(starts)


@given(texts)
def test_each_symbol_can_be_read_from_its_raw_place_alone(text: str) -> None:
    read = normalise(text, FOLDING)
    for char, (start, end) in zip(read.text, read.spans, strict=True):
        assert char == " " if start == end else char in normalise(text[start:end], FOLDING).text


@given(texts)
def test_reading_what_was_read_changes_nothing(text: str) -> None:
    read = normalise(text, FOLDING).text
    assert normalise(read, FOLDING).text == read


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
@given(text=texts.filter(lambda text: not set("™℠") & set(text)))
def test_all_normal_forms_of_a_text_read_alike(form: str, text: str) -> None:
    other = unicodedata.normalize(form, text)  # type: ignore[arg-type]
    assert normalise(other, FOLDING).text == normalise(text, FOLDING).text


@given(texts)
def test_a_word_has_one_edge_on_each_side(text: str) -> None:
    assert "  " not in normalise(text, FOLDING).text
