"""Headings above a place."""

from sessions.adapters.parsers.outline import Outline


def test_a_heading_ends_those_of_its_level_and_below() -> None:
    outline = Outline()
    seen = [outline.path]
    for level, heading in ((1, "A"), (2, "B"), (3, "C"), (2, "D"), (1, " "), (4, "E")):
        outline.enter(level, heading)
        seen.append(outline.path)
    assert seen == [(), ("A",), ("A", "B"), ("A", "B", "C"), ("A", "D"), (), ("E",)]
