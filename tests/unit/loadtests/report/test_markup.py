"""Words stay words, wherever they stand."""

from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from loadtests.report.markup import Markup, joined, tag, words


@given(st.text())
def test_any_text_can_stand_in_a_page_as_words_and_as_an_attribute(text: str) -> None:
    made = tag("p", words(text), title=text)
    found = ET.fromstring(made)  # noqa: S314 - our own
    assert not list(found)
    assert len(found.text or "") == len(text)


def test_what_no_page_may_hold_is_shown_as_a_mark() -> None:
    assert words("a\x00b\ud800c\x7f\n\t") == "a\ufffdb\ufffdc\ufffd\n\t"


def test_attributes_are_named_as_in_markup_and_left_out_when_there_are_none() -> None:
    assert tag("i", class_="a b", aria_label='"x"', title=None) == '<i class="a b" aria-label="&quot;x&quot;"/>'
    assert tag("p", Markup(""), x=1.5) == '<p x="1.5"></p>'


def test_parts_are_joined_as_they_are() -> None:
    assert joined([Markup("<b/>"), Markup("c")], ", ") == "<b/>, c"
