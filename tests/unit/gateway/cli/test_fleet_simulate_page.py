"""The page of a simulated calendar: whole in itself, whatever a class is called."""

from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree as ET

from gateway.cli.fleet_simulate_page import page
from tests.unit.gateway.cli.test_fleet_simulate_view import TOLD, WEEK


def test_it_fetches_nothing() -> None:
    shown = page(TOLD, [])
    assert "http" not in shown
    assert "<script" not in shown
    assert "src=" not in shown


def test_the_drawing_is_well_formed_and_has_a_mark_for_each_bell() -> None:
    shown = page(TOLD, [])
    drawing = ET.fromstring(shown[shown.index("<svg") : shown.index("</svg>") + 6])  # noqa: S314 - our own
    bells = [path for path in drawing.iter("path") if path.get("class", "").startswith("bell")]
    assert [path.get("class") for path in bells] == ["bell", "bell missed"]
    assert "1 of 2" in shown
    assert "18.00, of which 3.00 idle" in shown


def test_names_and_notes_are_words_and_not_markup() -> None:
    named = replace(WEEK.bells[0], name="<b>&co</b>")
    shown = page(replace(TOLD, source="<i>.csv", week=replace(WEEK, bells=(named,))), ["<u>"])
    assert "&lt;b&gt;&amp;co&lt;/b&gt;" in shown
    assert all(tag not in shown for tag in ("<b>", "<i>.csv", "<u>"))


def test_stairs_go_along_before_they_go_up() -> None:
    shown = page(TOLD, [])
    held = shown[shown.index('class="held" d="') + 16 :].split('"')[0]
    points = [tuple(map(float, point.split())) for point in held.strip("MZ ").split(" L")]
    assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairwise(points))
