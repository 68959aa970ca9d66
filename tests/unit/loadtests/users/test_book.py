"""What a worker keeps of a drill is on disk as soon as it is known."""

import json
from pathlib import Path

import gevent

from loadtests.domain.rows import Kind, Row
from loadtests.histograms import read_histograms
from loadtests.run_files import read_lag, read_rows
from loadtests.run_folder import RunFolder
from loadtests.users.book import Book, watch_lag
from loadtests.users.clock import DrillClock

ROW = Row(kind=Kind.TURN, worker=3, trainee=0, session="s", planned_s=0, started_s=0, first_s=0.5, last_s=1, ended_s=1)


def test_a_row_is_on_disk_when_it_is_written_and_what_comes_after_the_end_is_left_out(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    book = Book(folder, worker=3)
    book.write(ROW)
    assert read_rows(folder) == [ROW]
    book.close()
    book.write(ROW)
    assert read_rows(folder) == [ROW]


def test_the_end_leaves_histograms_and_says_what_went_wrong(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    book = Book(folder, worker=3)
    book.write(ROW)
    for kind in ("KeyError", "KeyError", "ValueError"):
        book.trouble(kind)
    book.close()
    assert read_histograms(folder.histograms_of(3)).count("ttft") == 1
    assert json.loads((tmp_path / "trouble-3.json").read_text()) == {"KeyError": 2, "ValueError": 1}


def test_a_loop_that_was_held_up_says_by_how_much(tmp_path: Path) -> None:
    folder, clock = RunFolder(tmp_path), DrillClock(bell_at=0, speed_up=1)
    watching = gevent.spawn(watch_lag, folder, clock, worker=3)
    gevent.sleep(0.01)
    begun_s = clock.now()
    while clock.now() < begun_s + 0.3:
        pass  # nobody else is let on
    gevent.sleep(0.1)
    watching.kill()
    lag = read_lag(folder)
    assert {sample.worker for sample in lag} == {3}
    assert 0.2 < max(sample.lag_s for sample in lag) < 5
