"""The class calendar on the command line, against the API over real HTTP."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from gateway.cli.drill_table import tell
from gateway.cli.drill_wire import DrillView, SeriesView, StrainView
from tests.integration.cli.api_thread import Running
from tests.integration.cli.conftest import Command, Ended

Drill = Callable[..., Ended]
BERLIN = ("--timezone", "Europe/Berlin")


@pytest.fixture
def drill(drillyard: Command, api: Running) -> Drill:
    api.scenario()

    def run(*words: str) -> Ended:
        return drillyard("drill", *words, "--base-url", api.house.base_url, "--key", api.instructor_key)

    return run


def told(ended: Ended) -> Any:
    assert ended.code == 0, ended
    return json.loads(ended.out)


def added(drill: Drill, *words: str) -> Any:
    usual = ("--at", "2026-12-01 09:00", *BERLIN, "--for", "45m", "--trainees", "30")
    return told(drill("add", *usual, *words, "--json"))


def test_a_class_is_scheduled_by_the_clocks_of_its_zone(drill: Drill) -> None:
    ended = drill(
        "add", "--at", "2026-07-01 09:00", *BERLIN, "--for", "1h30m", "--trainees", "30", "--name", "Wednesday"
    )
    assert ended.code == 0, ended
    assert "Wednesday (scheduled)" in ended.out
    assert "begins Wed 2026-07-01 09:00 CEST (2026-07-01 07:00 UTC), 90 minutes" in ended.out
    assert "30 trainees expected, a seat for everybody" in ended.out
    assert ended.out.endswith("  it is over\n")


def test_what_was_scheduled_is_listed_and_shown(drill: Drill) -> None:
    one = added(drill, "--seats", "25", "--walk-ins", "5")
    shown = drill("show", one["id"], *BERLIN)
    assert "25 seats, 5 walk-ins" in shown.out
    assert told(drill("show", one["id"], "--json")) == one
    listed = drill("list", "--from", "2026-12-01 08:00", *BERLIN)
    assert one["id"] in listed.out
    assert re.search(r"Tue 2026-12-01 09:00 CET │ 12-01 08:00 │ 45 ", listed.out)
    assert listed.out.endswith("\n1 drill\n")
    for span, count in ((("2026-12-01", "2026-12-02"), 1), (("2026-12-02", "2026-12-03"), 0)):
        assert len(told(drill("list", "--from", span[0], "--to", span[1], *BERLIN, "--json"))["items"]) == count


@pytest.mark.parametrize(
    ("words", "start", "minutes"),
    [
        (("--by", "30m"), "2026-12-01T08:30:00Z", 45),
        (("--by=-1h",), "2026-12-01T07:00:00Z", 45),
        (("--at", "2026-12-02 10:00", *BERLIN), "2026-12-02T09:00:00Z", 45),
        (("--at", "2026-12-02T10:00:00Z", "--for", "2h"), "2026-12-02T10:00:00Z", 120),
        (("--for", "2h"), "2026-12-01T08:00:00Z", 120),
    ],
)
def test_a_class_is_moved(drill: Drill, words: tuple[str, ...], start: str, minutes: int) -> None:
    one = added(drill, "--seats", "25")
    moved = told(drill("move", one["id"], *words, "--json"))
    assert (moved["starts_at"], moved["version"], moved["seats"]) == (start, 2, 25)
    length = told(drill("list", "--from", "2026-11-30", "--json"))["items"][0]
    assert length["ends_at"] == moved["ends_at"]
    assert f", {minutes} minutes" in drill("show", one["id"]).out


def test_a_class_is_cancelled_and_twice_is_nothing(drill: Drill) -> None:
    one = added(drill)
    for _ in range(2):
        ended = drill("cancel", one["id"])
        assert ended.code == 0, ended
        assert "(cancelled)" in ended.out
    assert "it is cancelled and takes no change" in drill("move", one["id"], "--by", "1h").err


def test_classes_repeat_and_end_together(drill: Drill) -> None:
    words = ("--every", "0 9 * * MON", *BERLIN, "--trainees", "9", "--first-day", "2026-10-19", "--until", "2026-10-26")
    ended = drill("add", *words)
    assert ended.code == 0, ended
    assert "0 9 * * MON in Europe/Berlin" in ended.out
    assert re.search(r"Mon 2026-10-19 09:00 CEST │ 10-19 07:00", ended.out)
    assert re.search(r"Mon 2026-10-26 09:00 CET +│ 10-26 08:00", ended.out)
    series = ended.out.split("series ", 1)[1].split(":", 1)[0]
    assert drill("series", series).out == ended.out
    assert [each["state"] for each in told(drill("series", series, "--cancel", "--json"))["drills"]] == [
        "cancelled"
    ] * 2


def test_what_is_amiss_with_one_of_a_series_is_told_by_the_clocks_of_its_zone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    night = datetime(2026, 10, 18, 22, 30, tzinfo=UTC)
    by = {"created_by": "a", "created_at": night}
    strain = StrainView(pool="p", replicas_needed=6, replicas_allowed=4, text="needs 6 replicas")
    drill = DrillView(
        **{"id": "1", "name": "n", "scenario_id": "s", "state": "scheduled", "version": 1, **by},
        **{"starts_at": night, "ends_at": night, "expected_trainees": 9, "strain": strain},
    )
    rhythm = {"cron": "30 0 * * MON", "timezone": "Europe/Berlin", "minutes": 45}
    tell(SeriesView(id="2", **rhythm, first_at=night, last_at=night, **by, drills=(drill,)), None)
    assert "warning: Mon 2026-10-19 00:30 CEST: needs 6 replicas\n" in capsys.readouterr().out


def test_a_table_is_imported(drill: Drill, tmp_path: Path) -> None:
    file = tmp_path / "spring.csv"
    file.write_text("name,starts_at,minutes\nA,2026-12-01 09:00,45\nB,2026-12-02 09:00,45\n")
    words = ("import", str(file), *BERLIN, "--scenario", "晚到的包裹", "--trainees", "9")
    trial = drill("import", str(file), *BERLIN, "--scenario", "zh", "--trainees", "9", "--dry-run")
    assert "added: A, Tue 2026-12-01 09:00 CET (2026-12-01 08:00 UTC)" in trial.out
    assert "would be done: 2 added" in trial.out
    assert "done: 2 added" in drill(*words).out
    assert drill(*words).out == "done: 2 unchanged\n"
    file.write_text("name,starts_at,minutes\nA,2026-12-01 09:00,45\n")
    assert "done: 1 cancelled, 1 unchanged" in drill(*words, "--prune").out
    file.write_text("name,starts_at,minutes\n,2026-12-01 09:00,45\nB,never,45\n")
    refused = drill(*words)
    assert refused.code == 1
    assert refused.err.splitlines()[:2] == [
        "line 2, name: the name is empty",
        "line 3, starts_at: a time is written as 2026-12-01 09:00, or with its offset as 2026-12-01T09:00:00+01:00",
    ]


def test_a_calendar_is_imported(drill: Drill, tmp_path: Path) -> None:
    file = tmp_path / "school.ICS"
    event = "BEGIN:VEVENT\r\nUID:a\r\nSUMMARY:A\r\nDTSTART:20261201T080000Z\r\nDURATION:PT45M\r\nEND:VEVENT\r\n"
    file.write_text(f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n{event}END:VCALENDAR\r\n")
    found = told(drill("import", str(file), "--scenario", "晚到的包裹", "--trainees", "9", "--source", "s", "--json"))
    assert (found["added"], found["source"], found["changes"][0]["name"]) == (1, "s", "A")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("add", "--trainees", "9"), "one of --at and --in"),
        (("add", "--trainees", "9", "--at", "2026-12-01 09:00", "--in", "4m"), "one of --at and --in"),
        (("add", "--trainees", "9", "--at", "tomorrow"), "is no moment"),
        (("add", "--trainees", "9", "--at", "2026-03-29 02:30", *BERLIN), "the clocks skip that time"),
        (("add", "--trainees", "9", "--in", "4m", "--timezone", "Berlin"), "no time zone 'Berlin'"),
        (("add", "--trainees", "9", "--in", "soon"), "no span of time"),
        (("add", "--trainees", "9", "--in", "4m", "--scenario", "nothing"), "no scenario is named"),
        (("add", "--trainees", "9", "--in", "4m", "--until", "2026-12-01"), "give --every"),
        (("add", "--trainees", "9", "--every", "0 9 * * MON", "--count", "2"), "goes with --timezone"),
        (("add", "--trainees", "9", "--every", "0 9 * *", "--count", "2", *BERLIN), "five fields"),
        (("add", "--trainees", "9", "--every", "0 9 * * *", "--count", "2", "--for", "90s", *BERLIN), "whole minutes"),
        (("add", "--trainees", "9", "--every", "0 9 * * MON", *BERLIN), "a series ends"),
        (("show", str(uuid4())), "no such drill"),
        (("move", str(uuid4()), "--by", "1h", "--in", "4m"), "give one of them"),
        (("move", str(uuid4()), "--by", "1h"), "no such drill"),
        (("move", str(uuid4())), "give --by, --at, --in or --for"),
        (("cancel", "x"), "no such drill"),
        (("series", "x"), "no such series"),
        (("list", "--from", "soon"), "is no moment"),
        (("import", "nowhere.csv"), "cannot be read"),
        (("import", "/dev/null"), "neither a table nor a calendar"),
    ],
)
def test_what_cannot_be_done_is_said(drill: Drill, words: tuple[str, ...], said: str) -> None:
    ended = drill(*words)
    assert ended.code == 1, ended
    assert said in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("command", ["add", "list", "show", "move", "cancel", "series", "import", "run"])
def test_each_command_shows_an_example(drillyard: Command, command: str) -> None:
    ended = drillyard("drill", command, "--help")
    assert ended.code == 0
    assert f"drillyard drill {command}" in ended.out


def test_a_class_may_begin_in_minutes(drill: Drill) -> None:
    soon = told(drill("add", "--in", "4m", "--for", "45m", "--trainees", "3", "--json"))
    assert [each["id"] for each in told(drill("list", "--json"))["items"]] == [soon["id"]]
    assert "it is over" not in drill("show", soon["id"]).out
    drill("cancel", soon["id"])
    assert drill("list").out.endswith("\n0 drills; 1 cancelled or archived, see --from\n")
    assert "1 drill\n" in drill("list", "--from", "2026-01-01").out
