"""Headings above a place."""

from sessions.adapters.parsers.outline import Outline


def test_a_heading_ends_those_of_its_level_and_below() -> None:
    outline = Outline()
    for level, heading in ((1, "A"), (2, "B"), (3, "C")):
        outline.enter(level, heading)
    assert outline.path == ("A", "B", "C")
    outline.enter(2, "D")
    assert outline.path == ("A", "D")
    outline.enter(1, " ")
    assert outline.path == ()
    outline.enter(4, "E")
    assert outline.path == ("E",)
