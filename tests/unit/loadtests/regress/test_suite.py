"""Suites as they are written, and everything that may be wrong with one."""

from dataclasses import replace
from pathlib import Path

import pytest

from loadtests.domain.drill import Crowd, Drill, Shape, Wire
from loadtests.domain.targets import DEFAULT
from loadtests.domain.usual_drills import DEFAULTS
from loadtests.regress.suite import UnusableSuite, load_suite, read_suite, shipped


def complaints(text: str) -> tuple[str, ...]:
    with pytest.raises(UnusableSuite) as refused:
        read_suite(text, name="any")
    return refused.value.complaints


def test_the_quick_suite_has_one_drill_of_each_kind_that_settings_may_hurt() -> None:
    assert "quick" in shipped()
    suite = load_suite("quick")
    assert [item.name for item in suite.items] == [
        "single",
        "class",
        "long-prompt",
        "long-output",
        "kv",
        "recovery",
    ]
    assert suite.items[-1].drill.faults == ("kill@10:replica-1",)
    assert {item.drill.wire for item in suite.items if item.name == "kv"} == {Wire.CHAT}


def test_a_drill_is_its_shapes_own_with_what_is_named() -> None:
    text = """
drills:
- name: one
  shape: class
  trainees: 7
  think_s: 3
  turns: [2, 4]
  crowd: {leavers: 0.1}
  history: null
  targets: {let_in: 1}
- {name: two, shape: soak}
"""
    one, two = read_suite(text, name="any").items
    assert one.drill == Drill(trainees=7, think_s=3.0, turns=(2, 4), crowd=Crowd(leavers=0.1))
    assert one.targets == replace(DEFAULT, let_in=1.0)
    assert (two.drill, two.targets) == (DEFAULTS[Shape.SOAK].drill, DEFAULT)


def test_three_seconds_are_three_seconds_however_they_are_written() -> None:
    drills = [
        read_suite(f"drills: [{{name: a, shape: class, think_s: {told}}}]", name="any").items[0].drill
        for told in ("3", "3.0")
    ]
    assert drills[0].digest == drills[1].digest


@pytest.mark.parametrize(
    ("drill", "complaint"),
    [
        ("{shape: class}", "line 1: a drill needs a name, one word"),
        ("{name: a b, shape: class}", "line 1: a drill needs a name, one word"),
        ("{name: a, shape: class, tunrs: 3}", "line 1: tunrs: no drill has this"),
        ("{name: a, shape: class, trainees: many}", "line 1: trainees: 'many' is of another kind"),
        ("{name: a, shape: class, trainees: true}", "line 1: trainees: True is of another kind"),
        ("{name: a, shape: class, trainees: 0}", "line 1: trainees: at least 1"),
        ("{name: a, shape: class, think_s: -1}", "line 1: think_s: at least 0"),
        ("{name: a, shape: class, wire: smoke}", "line 1: 'smoke' is not a valid Wire"),
        ("{name: a, shape: class, turns: [5, 2]}", "line 1: turns: at least 1, and the least first"),
        ("{name: a, shape: class, turns: 5}", "line 1: turns: 5 is of another kind"),
        ("{name: a, shape: class, turns: [[5]]}", "line 1: turns: expected a list of words or numbers"),
        (
            "{name: a, shape: class, crowd: {calm: 1}}",
            "line 1: crowd: expected shares of hostile, impatient, leavers, reconnecting",
        ),
        ("{name: a, shape: class, targets: {ttft_p95_s: -1}}", "line 1: ttft_p95_s: must be above 0"),
        ("{name: a, shape: class, targets: 3}", "line 1: expected lines such as `ttft_p95_s: 1.5`"),
        ("{name: a, name: b, shape: class}", "line 1: a drill says something twice"),
    ],
)
def test_what_is_wrong_with_a_drill_is_said_with_its_line(drill: str, complaint: str) -> None:
    assert complaints(f"drills: [{drill}]") == (complaint,)


def test_a_drill_of_no_shape_lists_the_shapes() -> None:
    (complaint,) = complaints("drills:\n- name: a\n  shape: circle\n")
    assert complaint.startswith("line 2: a drill needs a shape, one of single, class, ")


def test_a_list_of_the_wrong_length_is_refused() -> None:
    assert len(complaints("drills: [{name: a, shape: class, turns: [5]}]")) == 1


def test_all_complaints_come_at_once() -> None:
    text = "drills:\n- {name: a, shape: class, trainees: 0}\n- {name: a, shape: x}\n- 3\n"
    assert [each.partition(":")[0] for each in complaints(text)] == ["line 4", "line 2", "line 3"]


def test_names_are_given_once() -> None:
    text = "drills:\n- {name: a, shape: class}\n- {name: a, shape: soak}\n"
    assert complaints(text) == ("a: two drills have this name",)


@pytest.mark.parametrize("text", ["", "drills: []", "drills: 3", "- a", "drills: [{name: a, shape: soak}]\nmore: 1"])
def test_what_is_no_list_of_drills_is_refused(text: str) -> None:
    assert complaints(text) == ("expected `drills:` and under it a list of drills, each with a name and a shape",)


@pytest.mark.parametrize("text", ["drills: [", "a: \x00"])
def test_what_is_no_yaml_is_refused(text: str) -> None:
    assert complaints(text)[0].startswith("not YAML")


def test_a_file_is_a_suite_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("drills: [{name: a, shape: soak}]")
    assert load_suite(str(file)).name == "mine"


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_suite_that_cannot_be_read_names_those_there_are(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "mine.yaml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UnusableSuite, match=r"neither a suite that can be read nor one of: .*quick"):
        load_suite(str(file))
