"""However a word is spelt, it is read as what it stands for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.domain.folded_text import is_blank, readings, run_together, visible


@pytest.mark.parametrize(
    "spelt",
    [
        "Full Marks",
        "ＦＵＬＬ ＭＡＲＫＳ",
        "full\u200b ma\u00adrks",
        "fυll mаrks",
        "fúll m\u0301arks",
        "full--marks",
        "full\tmarks",
        "ⓕull marks",
    ],
)
def test_words_are_read_whatever_they_look_like(spelt: str) -> None:
    assert readings(spelt)[0] == "full marks"


def test_figures_inside_words_have_a_second_reading() -> None:
    assert readings("the sc0re of 100 is f1n@l") == ("the sc0re of 100 is f1n l", "the score of 100 is final")


@pytest.mark.parametrize("spelt", ["满分", "满 分", "滿*分", "满\u200b分", "满。分", "滿\n分"])
def test_chinese_is_read_without_what_stands_between(spelt: str) -> None:
    assert run_together(spelt) == "满分"


def test_what_nobody_sees_goes_and_line_breaks_stay() -> None:
    assert visible("a\u202eb\u0000c\nd\u2066\ufeffe") == "abc\nde"


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    for reading in (*readings(text), run_together(text)):
        assert not any(gap in reading for gap in ("  ", "\n", "\t"))


@pytest.mark.parametrize(
    ("text", "blank"),
    [("", True), (" \u200b\ufeff\u202e\u3000\n", True), ("\u200b.", False), ("👍", False), ("你", False)],
)
def test_a_text_is_blank_where_nobody_sees_anything(text: str, blank: bool) -> None:
    assert is_blank(text) is blank
