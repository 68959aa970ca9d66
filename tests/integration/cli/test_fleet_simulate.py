"""A calendar that is played, from the command line to its page."""

import json
from pathlib import Path

import pytest

from tests.integration.cli.api_thread import Running
from tests.integration.cli.conftest import Command
from tests.integration.cli.test_fleet_plan import book_a_class, do
from tests.support.planned_fleet import POOL

CSV = "name,starts_at,minutes,expected_trainees\nOne,2026-03-02 09:00,45,20\nTwo,2026-03-02 09:15,45,20\n"
ICAL = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//test//test//EN
BEGIN:VEVENT
UID:weekly
SUMMARY:Weekly
DTSTART:20260105T090000Z
DTEND:20260105T094500Z
RRULE:FREQ=WEEKLY
END:VEVENT
END:VCALENDAR
"""


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "110")


def test_a_file_is_played_and_told_three_times(drillyard: Command, tmp_path: Path) -> None:
    (tmp_path / "term.csv").write_text(CSV)
    words = ("--calendar", "term.csv", "--timezone", "Europe/Berlin", "--seats", "8", "--maximum", "6", "--price", "2")
    ended = drillyard("fleet", "simulate", *words, "--json", "told.json", "--html", "told.html")
    assert ended.code == 0, ended
    for told in ("2 of 2", "1 One", "5 of 3", "2 Two", "5 of 5", "GPU-hours", "idle"):
        assert told in ended.out
    whole = json.loads((tmp_path / "told.json").read_text())
    assert (whole["missed"], whole["sessions_hit"], len(whole["bells"])) == (0, 0, 2)
    assert whole["bells"][0]["at"] == "2026-03-02T08:00:00Z"
    assert whole["cost"] == pytest.approx(2 * whole["gpu_hours"])
    assert "<svg" in (tmp_path / "told.html").read_text()


def test_a_bell_that_was_missed_is_told_and_ends_with_1(drillyard: Command, tmp_path: Path) -> None:
    (tmp_path / "term.csv").write_text(CSV)
    ended = drillyard("fleet", "simulate", "--calendar", "term.csv", "--timezone", "UTC", "--maximum", "4")
    assert ended.code == 1
    assert "MISSED" in ended.out
    assert "1 of 2" in ended.out


def test_json_alone_can_be_piped(drillyard: Command) -> None:
    words = ("--days", "1", "--cold-start", "30-40", "--failures", "0", "--kills", "0", "--blackouts", "0")
    ended = drillyard("fleet", "simulate", "--example", "week", *words, "--json", "-")
    told = json.loads(ended.out)
    assert (ended.code, told["failed_starts"], told["kills"], told["missed"]) == (0, 0, 0, 0)
    assert told["notes"]


def test_a_calendar_that_repeats_is_laid_out(drillyard: Command, tmp_path: Path) -> None:
    (tmp_path / "term.ics").write_text(ICAL)
    ended = drillyard("fleet", "simulate", "--calendar", "term.ics", "--days", "8", "--trainees", "9")
    assert ended.code == 0, ended
    assert "2 of 2" in ended.out
    assert "Weekly" in ended.out
    assert "are left out" in ended.out


def test_the_classes_of_a_service_are_played_with_its_pool(drillyard: Command, api: Running) -> None:
    do(api, book_a_class(api, api.house.here, 35))
    words = ("--base-url", api.house.base_url, "--key", api.key)
    ended = drillyard("fleet", "simulate", *words)
    assert ended.code == 1
    assert "name one by --pool" in ended.err
    played = drillyard("fleet", "simulate", *words, "--pool", POOL, "--seats", "20", "--json", "-")
    told = json.loads(played.out)
    assert (played.code, told["rules"]["maximum"], told["bells"][0]["needed"]) == (0, 4, 2)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--example", "week", "--calendar", "x.csv"), "two sources of classes"),
        (("--example", "week", "--cold-start", "fast"), "write it as 60-180"),
        (("--example", "week", "--cold-start", "90-30"), "as long as the fastest"),
        (("--example", "week", "--minimum", "5", "--maximum", "4"), "a pool has from 5 to 4 replicas"),
        (("--calendar", "none.csv"), "No such file"),
        (("--example", "week", "--days", "1", "--html", "no/such/folder.html"), "cannot be written"),
    ],
)
def test_what_cannot_be_played_is_said(drillyard: Command, words: tuple[str, ...], told: str) -> None:
    ended = drillyard("fleet", "simulate", *words)
    assert ended.code != 0
    assert told in ended.err
