"""Texts that mean the same words have the same terms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.domain.terms import Language, characters, has_chinese, terms

# A toy: Chinese is cut into pairs, English loses a plural's s.
TOY = Language(
    cut=lambda run: [run[at : at + 2] for at in range(0, len(run), 2)], stem=lambda word: word.removesuffix("s")
)


def found(text: str) -> list[str]:
    return terms(text, TOY)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The filters", ["filter"]),
        ("滤芯 filters", ["滤芯", "filter"]),
        ("FILTERS", ["filter"]),
        ("customer's after-sales", ["customer", "sale"]),
        ("1,000 or 3.5", ["1000", "3.5"]),
        ("折扣折扣", ["折扣", "折扣"]),
        ("的 我们", []),
        ("", []),
        ("?!… 🙂 _", []),
    ],
)
def test_a_text_becomes_terms(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize("spelling", ["AX-4471", "ax4471", "AX4471", "ax/4471"])
def test_a_code_is_kept_whole_and_in_parts(spelling: str) -> None:
    assert found(spelling) == ["ax4471", "ax", "4471"]


def test_a_code_written_with_a_blank_is_found_by_its_parts() -> None:
    assert set(found("AX 4471")) < set(found("AX-4471"))


def test_a_plain_number_is_one_term() -> None:
    assert found("30 days") == ["30", "day"]


def test_chinese_and_digits_that_touch_are_told_apart() -> None:
    assert found("故障E42代码") == ["故障", "e42", "e", "42", "代码"]


def test_an_unknown_word_is_looked_for_by_characters_that_are_no_words() -> None:
    assert characters("专票") == ("*专", "*票")
    assert not set(characters("专票")) & set(found("专 票 *专"))


@pytest.mark.parametrize("word", ["票", "ab", ""])
def test_only_chinese_words_fall_into_characters(word: str) -> None:
    assert characters(word) == ()


def test_chinese_is_noticed() -> None:
    assert has_chinese("Is 折扣 a word?")
    assert not has_chinese("ありがとう thanks")


@given(st.text())
def test_any_text_has_terms(text: str) -> None:
    assert all(term and term == term.casefold() for term in found(text))


@given(st.text(alphabet="AaBb12-. 折扣", max_size=30))
def test_width_and_case_do_not_matter(text: str) -> None:
    wide = "".join(chr(ord(each) + 0xFEE0) if "!" <= each <= "~" else each for each in text)
    assert found(wide) == found(text) == found(text.swapcase())
