"""What becomes of drills when a file of classes is read again."""

from dataclasses import replace
from datetime import timedelta

import pytest

from sessions.domain.class_rows import (
    Change,
    ClassRow,
    ImportStep,
    called_off,
    doubled,
    import_key,
    name_fault,
    step,
    vanished,
)
from sessions.domain.drill import DrillEvent, DrillState, ended
from tests.support.drill_world import drill, plan
from tests.support.records_world import NOON

ROW = ClassRow("line 2", "a", "A", NOON, NOON + timedelta(hours=1), "Renewal", 9)
STORED = drill()


def test_a_class_that_is_not_there_is_added_unless_it_is_called_off() -> None:
    added = step(plan(), None, STORED)
    assert (added.change, added.drill) == (Change.ADDED, STORED)
    assert called_off(None) is None


def test_a_class_that_is_there_is_changed_where_it_differs() -> None:
    same = step(STORED.plan, STORED, drill("new"))
    moved = step(plan(name="moved"), STORED, drill("new"))
    off = called_off(STORED)
    assert off is not None
    assert (same.change, same.drill) == (Change.UNCHANGED, STORED)
    assert (moved.change, moved.drill.plan.name, moved.drill.version) == (Change.CHANGED, "moved", 2)
    assert (off.change, off.drill.state, off.drill.version) == (Change.CANCELLED, DrillState.CANCELLED, 2)


def test_what_was_ended_here_stays_ended() -> None:
    for event in (DrillEvent.CANCEL, DrillEvent.ARCHIVE):
        over = ended(STORED, event)
        assert step(plan(name="moved"), over, drill("new")) == ImportStep(Change.LEFT_ALONE, over)
        assert called_off(over) == ImportStep(Change.UNCHANGED, over)


def test_what_the_file_names_no_more_is_cancelled() -> None:
    named, gone = replace(drill("one"), import_key="s/1"), replace(drill("two"), import_key="s/2")
    (found,) = vanished([named, gone], ["s/1", "s/3"])
    assert (found.change, found.drill) == (Change.CANCELLED, ended(gone, DrillEvent.CANCEL))


def test_the_same_class_twice_is_a_fault() -> None:
    rows = [ROW, replace(ROW, place="line 3", key="b"), replace(ROW, place="line 4"), replace(ROW, place="line 5")]
    assert [(fault.place, "line 2" in fault.detail) for fault in doubled(rows)] == [("line 4", True), ("line 5", True)]


def test_a_key_is_short_and_its_sources_own() -> None:
    assert import_key("spring", "a" * 9999).startswith("spring/")
    assert len(import_key("spring", "a" * 9999)) == len("spring/") + 32
    assert len({import_key(source, key) for source in ("a", "b") for key in ("1", "2", "\ud800")}) == 6


@pytest.mark.parametrize("name", ["A class", "x" * 200, "晚到的包裹", "a\u200db"])
def test_a_class_may_be_called_anything_that_stands_in_one_line(name: str) -> None:
    assert name_fault(name) is None


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (" ", "empty"),
        ("x" * 201, "200 characters"),
        ("a\nb", "control"),
        ("a\u2028b", "control"),
        ("\ud800", "control"),
    ],
)
def test_a_name_that_cannot_be_shown_in_one_line_is_none(name: str, why: str) -> None:
    assert why in (name_fault(name) or "")
