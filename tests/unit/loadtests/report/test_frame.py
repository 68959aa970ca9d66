"""What stands round a chart."""

from xml.etree import ElementTree as ET

from loadtests.report.frame import (
    LEFT,
    RIGHT,
    Frame,
    Key,
    Mark,
    drawing,
    foot,
    frame_of,
    grid,
    happenings,
    nothing_measured,
    shortened,
    with_unit,
    written,
)
from loadtests.report.markup import Markup, joined
from loadtests.report.scale import Axis, Scale

TIME = Axis(label="since the bell", unit="s", is_clock=True)
TEXT = Axis(label="first text", unit="s")
ACROSS = Scale(low=0, high=100, start=LEFT, end=RIGHT)


def parsed(parts: list[Markup]) -> ET.Element:
    return ET.fromstring(f"<g>{joined(parts)}</g>")  # noqa: S314 - our own


def test_values_stand_at_their_lines() -> None:
    found = parsed(list(grid(TEXT, Scale(low=0, high=1, start=300, end=100))))
    lines = [float(line.get("y1", "")) for line in found.iter("line")]
    assert lines == [300, 260, 220, 180, 140, 100]
    texts = [text.text for text in found.iter("text")]
    assert texts == ["0", "0.2", "0.4", "0.6", "0.8", "1", "first text (s)"]


def test_times_stand_below_at_their_places() -> None:
    found = parsed(list(foot(TIME, ACROSS, 300)))
    assert [text.text for text in found.iter("text")] == ["0:00", "0:15", "0:30", "0:45", "1:00", "1:15", "1:30"]
    assert [float(text.get("x", "")) for text in found.iter("text")][2] == ACROSS.place(30)


def test_a_fault_is_shaded_from_its_beginning_to_its_end_and_a_bell_is_a_line() -> None:
    marks = [Mark(at=50, until=60, label="kill <1>"), Mark(at=0, label="bell"), Mark(at=70)]
    frame = frame_of("t", marks=marks, across=ACROSS)
    found = parsed(list(happenings(frame, ACROSS, TIME)))
    (span,) = found.iter("rect")
    assert float(span.get("x", "")) == ACROSS.place(50)
    assert float(span.get("width", "")) == round(ACROSS.place(60) - ACROSS.place(50), 1)
    assert [float(line.get("x1", "")) for line in found.iter("line")] == [ACROSS.place(at) for at in (0, 50, 70)]
    assert [title.text for title in found.iter("title")] == ["bell: 0:00", *["kill <1>: 0:50 to 1:00"] * 2, "1:10"]
    assert [text.text for text in found.iter("text")] == ["bell", "kill <1>"]


def test_labels_that_would_cover_each_other_stand_in_rows_and_make_room_for_themselves() -> None:
    marks = [Mark(at=at, label="a label of some length") for at in (10, 12, 14, 90)]
    frame = frame_of("t", marks=marks, across=ACROSS)
    assert [row for _, row in frame.marks] == [0, 1, 2, 0]
    assert frame.top > frame_of("t", marks=marks[:1], across=ACROSS).top
    found = list(parsed(list(happenings(frame, ACROSS, TIME))).iter("text"))
    assert len({text.get("y") for text in found}) == 3
    assert all(float(text.get("y", "")) < frame.top for text in found)


def test_a_label_at_the_right_edge_stands_left_of_its_line() -> None:
    frame = frame_of("t", marks=[Mark(at=99, label="very much at the end")], across=ACROSS)
    (text,) = parsed(list(happenings(frame, ACROSS, TIME))).iter("text")
    assert text.get("text-anchor") == "end"
    assert float(text.get("x", "")) < ACROSS.place(99)


def test_a_label_left_of_its_line_keeps_clear_of_those_before_it() -> None:
    marks = [Mark(at=86, label="kill of replica-1"), Mark(at=99, label="very much at the end")]
    assert [row for _, row in frame_of("t", marks=marks, across=ACROSS).marks] == [0, 1]


def test_the_legend_has_an_entry_for_each_and_wraps_within_the_drawing() -> None:
    keys = [Key("line", slot % 8, f"replica number {slot}") for slot in range(14)]
    keys += [Key("box", 1, "box"), Key("dot tone-worse", 0, "worse")]
    found = ET.fromstring(drawing(Frame("t & t", 50, 290, ()), [], x=TIME, keys=keys))  # noqa: S314 - our own
    *_, height = map(float, found.get("viewBox", "").split())
    texts = [text for text in found.iter("text") if "class" not in text.attrib][1:]
    assert [text.text for text in texts] == [key.name for key in keys]
    assert all(float(text.get("x", "")) < RIGHT and 290 < float(text.get("y", "")) < height for text in texts)
    assert len({text.get("y") for text in texts}) > 1
    assert found.get("aria-label") == "t & t"
    assert [circle.get("class") for circle in found.iter("circle")] == ["dot tone-worse"]
    assert [box.get("class") for box in found.iter("rect")] == ["box s1"]


def test_values_are_told_with_their_unit_and_times_as_clocks() -> None:
    assert (with_unit(TEXT, 1.5), with_unit(TIME, 90), with_unit(TEXT, None)) == ("1.5 s", "1:30", "-")
    assert with_unit(TIME, None) == "-"
    assert (written(TEXT, 1.5), written(TIME, 90)) == ("1.5", "1:30")


def test_nothing_is_said_to_be_nothing_and_long_names_are_cut() -> None:
    assert "nothing measured" in nothing_measured(Frame("t", 0, 10, ()))
    assert shortened("abcdef", 6) == "abcdef"
    assert shortened("abcdefg", 6) == "abcde…"
