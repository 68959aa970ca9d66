import os
from pathlib import Path

import pytest

from gateway.local.errors import AlreadyRunning, LocalStackError
from gateway.local.places import made, owned


def test_the_folders_are_made_below_the_data_folder(tmp_path: Path) -> None:
    places = made(tmp_path / "a" / "b")
    assert places.logs.is_dir()
    assert places.run.is_dir()
    assert {places.redis.parent, places.postgres.parent, places.ready.parent} == {tmp_path / "a" / "b"}
    assert places.pids.parent == places.run


def test_a_folder_that_cannot_be_made_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LocalStackError, match="cannot be made: Not a directory") as told:
        made(tmp_path / "file" / "data")
    assert "--data" in told.value.hint


def test_a_folder_that_is_there_is_not_said_to_be_impossible_to_make() -> None:
    with pytest.raises(LocalStackError, match="the data folder /proc cannot be written: "):
        made(Path("/proc"))


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(LocalStackError, match="cannot be written"):
        made(tmp_path)


def test_the_second_owner_learns_who_is_first_and_where(tmp_path: Path) -> None:
    places = made(tmp_path)
    with owned(places):
        with (
            pytest.raises(AlreadyRunning, match=rf"already running as pid {os.getpid()} \(it is still starting\)"),
            owned(places),
        ):
            pass
        places.ready.write_text('{"base_url": "http://127.0.0.1:8080"}')
        with pytest.raises(AlreadyRunning, match=rf"as pid {os.getpid()} at http://127\.0\.0\.1:8080"), owned(places):
            pass


def test_the_folder_is_free_again_afterwards(tmp_path: Path) -> None:
    for _ in range(2):
        with owned(made(tmp_path)):
            pass
