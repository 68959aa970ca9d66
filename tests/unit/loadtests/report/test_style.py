"""Charts as files of their own."""

import re
from xml.etree import ElementTree as ET

from loadtests.report.lines import Series, line_chart
from loadtests.report.scale import Axis
from loadtests.report.style import CHART, COLOURS, standalone


def test_a_chart_alone_is_an_image_with_its_styles() -> None:
    chart = line_chart("t", [Series("a", [(0, 1)])], x=Axis(label="x"), y=Axis(label="y"))
    found = ET.fromstring(standalone(chart))  # noqa: S314 - our own
    name = "{http://www.w3.org/2000/svg}"
    assert found.tag == f"{name}svg"
    assert "--c0" in (next(found.iter(f"{name}style")).text or "")
    assert len(list(found.iter(f"{name}path"))) == chart.count("<path")


def test_every_look_has_a_colour_by_day_by_night_and_on_paper() -> None:
    for slot in range(8):
        assert COLOURS.count(f"--c{slot}:") == 3
        assert f".line.s{slot} {{" in CHART
    assert len(set(re.findall("stroke-dasharray: ([^;]+);", CHART))) >= 8
    for name in set(CHART.split("var(--")[1:]):
        assert name.split(")")[0] == "own" or COLOURS.count(f"--{name.split(')')[0]}:") == 3


def test_words_and_lines_stand_out_from_their_paper() -> None:
    """By the contrast of WCAG 2: 4.5 for words, 3 for what is drawn."""
    for look in COLOURS.split(":root")[1:]:
        colours = dict(re.findall(r"--([\w]+): (#[0-9a-f]{3,6})[;\s]", look))
        for ground in (colours["paper"], colours["panel"]):
            for name in ("ink", "soft", "mark", "good", "bad", "doubt"):
                assert contrast(colours[name], ground) >= 4.5, (name, ground)
            for slot in range(8):
                assert contrast(colours[f"c{slot}"], ground) >= 3, (slot, ground)


def contrast(one: str, other: str) -> float:
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * each for each in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
