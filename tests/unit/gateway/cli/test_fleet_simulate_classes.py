"""Where the classes of a simulation come from."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gateway.cli.failure import CommandFailed
from gateway.cli.fleet_plan_wire import ClassView, FleetPlanView, LeadView, PlannedPoolView
from gateway.cli.fleet_simulate_classes import Classes, of_example, of_file, of_service
from sessions.domain.class_rows import ClassFault, ClassFile, ClassRow, RowDefaults

NOW = datetime(2026, 3, 2, 8, tzinfo=UTC)
DEFAULTS = RowDefaults(scenario="any", trainees=30, timezone="Europe/Berlin", minutes=60)
CSV = """name,starts_at,minutes,expected_trainees
Monday,2026-03-02 09:00,45,20
Tuesday,2026-03-03T09:00:00Z,,
"""


async def no_ical(_: bytes, __: RowDefaults) -> ClassFile:
    raise AssertionError


def written(folder: Path, text: str, name: str = "term.csv") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def test_a_table_is_read_as_an_import_reads_it(tmp_path: Path) -> None:
    classes = of_file(written(tmp_path, CSV), DEFAULTS, no_ical)
    monday, tuesday = classes.bookings
    assert (monday.id, monday.begins, monday.ends - monday.begins, monday.expected) == (
        "1 Monday",
        NOW.timestamp(),
        45 * 60.0,
        20,
    )
    assert (tuesday.ends - tuesday.begins, tuesday.expected) == (3600.0, 30)


def test_all_that_is_wrong_with_a_file_is_told_at_once(tmp_path: Path) -> None:
    rows = CSV.replace("09:00,45", "25:00,45").replace("Tuesday", "")
    with pytest.raises(CommandFailed) as failed:
        of_file(written(tmp_path, rows), DEFAULTS, no_ical)
    assert "line 2" in str(failed.value)
    assert "line 3" in str(failed.value)


def test_many_faults_are_counted(tmp_path: Path) -> None:
    async def wrong(_: bytes, __: RowDefaults) -> ClassFile:
        return ClassFile(faults=tuple(ClassFault(f"event {n}", "it is no class") for n in range(30)))

    with pytest.raises(CommandFailed, match=r"and 10 more"):
        of_file(written(tmp_path, "BEGIN:VCALENDAR", "term"), DEFAULTS, wrong)


def test_a_calendar_is_known_by_its_name_or_its_beginning(tmp_path: Path) -> None:
    row = ClassRow("event", "key", "Class", NOW, NOW + timedelta(hours=1), "any", 5)
    off = ClassRow("event", "other", "Off", NOW, NOW + timedelta(hours=1), "any", 5, is_cancelled=True)

    async def ical(_: bytes, __: RowDefaults) -> ClassFile:
        return ClassFile((row, off))

    for name, text in (("term.ics", "?"), ("term.txt", "\nbegin:vcalendar")):
        assert [b.id for b in of_file(written(tmp_path, text, name), DEFAULTS, ical).bookings] == ["1 Class"]


def test_a_file_that_is_not_there_is_said_to_be_so(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="No such file"):
        of_file(tmp_path / "none.csv", DEFAULTS, no_ical)


def test_what_begins_too_late_is_left_out_and_that_is_said() -> None:
    classes = of_example(1)
    near = classes.within(2)
    assert 0 < len(near.bookings) < 40
    assert near.notes == [
        f"{40 - len(near.bookings)} classes begin later than 2 days after the first and are left out; see --days"
    ]
    assert classes.within(14).notes == []


def test_more_trainees_than_can_be_played_are_refused() -> None:
    crowd = [replace(booking, expected=10_000) for booking in of_example(1).bookings]
    with pytest.raises(CommandFailed, match="more than 200000 trainees"):
        Classes("a crowd", crowd).within(14)
    assert len(Classes("a crowd", crowd[:20]).within(14).bookings) == 20


@pytest.mark.parametrize("when", ["0001-01-01T00:00:00Z,60", "9998-12-31T23:30:00Z,60"])
def test_what_no_service_would_take_is_not_played_either(tmp_path: Path, when: str) -> None:
    with pytest.raises(CommandFailed, match=r"line 2, \w+: a drill is held in the years"):
        of_file(written(tmp_path, f"name,starts_at,minutes\nA,{when}\n"), DEFAULTS, no_ical)


def test_a_class_that_hardly_ends_is_refused() -> None:
    one = of_example(1).bookings[0]
    with pytest.raises(CommandFailed, match="longer than 92 days"):
        Classes("a class", [replace(one, ends=one.begins + 93 * 86_400)]).within(14)


def plan(*models: str) -> FleetPlanView:
    coming = [
        ClassView(id=str(hours), name="Class", starts_at=at, ends_at=at + timedelta(hours=1), seats=12)
        for hours in (-1, 1)
        for at in [NOW + timedelta(hours=hours)]
    ]
    pools = [
        PlannedPoolView(
            model=model,
            minimum=0,
            maximum=4,
            reserve=0,
            seats_per_replica=10,
            lead=LeadView(ahead_s=1800.0, source="configured", start_s=270.0),
            is_looked_after=False,
            steps=(),
            classes=tuple(coming),
            other_classes=3,
        )
        for model in models
    ]
    return FleetPlanView(at=NOW, since=NOW, until=NOW, is_looked_after=False, pools=tuple(pools))


def test_a_service_is_asked_for_what_is_to_come() -> None:
    classes = of_service(plan("a", "b"), "b")
    assert [(b.id, b.expected, b.pool) for b in classes.bookings] == [("2 Class", 12, "b")]
    assert classes.notes == ["3 classes of other tenants are not shown to you and are left out"]
    assert of_service(plan("a"), None).pool is not None


@pytest.mark.parametrize(("models", "asked"), [(("a", "b"), None), (("a", "b"), "c"), ((), None)])
def test_a_pool_that_is_not_clear_is_asked_for_by_name(models: tuple[str, ...], asked: str | None) -> None:
    with pytest.raises(CommandFailed, match=f"there are: {', '.join(models) or 'none'}"):
        of_service(plan(*models), asked)


def test_nothing_to_play_is_said() -> None:
    with pytest.raises(CommandFailed, match="there are no classes in an empty file"):
        Classes("an empty file", []).within(3)
