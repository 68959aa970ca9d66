import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.local.cache import cache_folder, is_complete, locked, made_once, require_room
from gateway.local.errors import DiskFull, LocalStackError, StopAsked


def nothing(*_: object) -> None:
    pass


def made(product: Path, make: Callable[[Path], None]) -> Path:
    return made_once(product, make, checkpoint=nothing, say=nothing)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("DRILLYARD_CACHE", "XDG_CACHE_HOME", "HOME"), "DRILLYARD_CACHE"),
        (("XDG_CACHE_HOME", "HOME"), "XDG_CACHE_HOME/drillyard"),
        (("HOME",), "HOME/.cache/drillyard"),
        ((), "data/cache"),
    ],
)
def test_the_first_place_that_is_named_is_taken(tmp_path: Path, names: tuple[str, ...], expected: str) -> None:
    environment = {name: str(tmp_path / name) for name in names}
    assert cache_folder(tmp_path / "data", environment) == tmp_path / expected


def test_a_home_that_cannot_be_made_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    environment = {"HOME": str(tmp_path / "file" / "nonexistent")}
    assert cache_folder(tmp_path / "data", environment) == tmp_path / "data" / "cache"


@pytest.mark.parametrize(("name", "why"), [("file/below", "Not a directory"), ("closed", "it may not be written")])
def test_a_cache_that_was_asked_for_and_cannot_be_used_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, why: str
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(os, "access", lambda *_: False)
    environment = {"DRILLYARD_CACHE": str(tmp_path / name), "HOME": str(tmp_path)}
    with pytest.raises(LocalStackError, match=f"{name} cannot be used: {why}") as told:
        cache_folder(tmp_path / "data", environment)
    assert "DRILLYARD_CACHE" in told.value.hint


def test_a_product_is_made_once(tmp_path: Path) -> None:
    times: list[Path] = []
    for _ in range(3):
        assert made(tmp_path / "model", times.append) == tmp_path / "model"
    assert times == [tmp_path / "model"]


def test_what_a_killed_run_left_is_never_taken_for_whole(tmp_path: Path) -> None:
    def killed(folder: Path) -> None:
        (folder / "half").touch()
        raise StopAsked

    with pytest.raises(StopAsked):
        made(tmp_path / "model", killed)
    assert not is_complete(tmp_path / "model")
    made(tmp_path / "model", lambda folder: (folder / "whole").touch())
    assert is_complete(tmp_path / "model")
    assert not (tmp_path / "model" / "half").exists()


def test_a_damaged_product_is_said_to_be_and_made_anew(tmp_path: Path) -> None:
    said: list[str] = []
    model = tmp_path / "model"

    def make(folder: Path) -> None:
        (folder / "weights").write_text("whole")

    def again() -> None:
        made_once(model, make, checkpoint=nothing, say=said.append)

    again()
    (model / "weights").write_text("cut")
    again()
    assert said == [f"{model} is damaged (weights has 3 bytes instead of 5); it is made anew"]
    assert (model / "weights").read_text() == "whole"
    again()
    assert len(said) == 1


def test_who_waits_for_another_says_so_once_and_can_be_stopped(tmp_path: Path) -> None:
    said: list[str] = []
    looks = 0

    def checkpoint() -> None:
        nonlocal looks
        looks += 1
        if looks == 3:
            raise StopAsked

    with (tmp_path / "model.lock").open("a") as other:
        fcntl.flock(other.fileno(), fcntl.LOCK_EX)
        with pytest.raises(StopAsked):
            made_once(tmp_path / "model", nothing, checkpoint=checkpoint, say=said.append)
    assert said == ["another drillyard is preparing model; waiting for it"]


def test_who_waited_takes_what_the_other_has_made(tmp_path: Path) -> None:
    with (tmp_path / "model.lock").open("a") as other:
        fcntl.flock(other.fileno(), fcntl.LOCK_EX)

        def the_other_finishes() -> None:
            (tmp_path / "model").mkdir()
            (tmp_path / "model" / "complete.json").write_text("{}")
            fcntl.flock(other.fileno(), fcntl.LOCK_UN)

        made_once(tmp_path / "model", lambda _: pytest.fail("made twice"), checkpoint=the_other_finishes, say=nothing)


def test_a_lock_is_free_again_afterwards(tmp_path: Path) -> None:
    for _ in range(2):
        with locked(tmp_path / "x.lock", checkpoint=lambda: pytest.fail("it was held"), waiting=nothing):
            pass


def test_too_little_room_is_told_before_the_work(tmp_path: Path) -> None:
    require_room(tmp_path, needed_gib=0, what="nothing")
    with pytest.raises(DiskFull, match=r"vLLM needs 1000000\.0 GiB") as told:
        require_room(tmp_path, needed_gib=1e6, what="vLLM")
    assert "DRILLYARD_CACHE" in told.value.hint


def test_a_folder_that_may_not_be_written_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert cache_folder(tmp_path / "data", {"HOME": str(tmp_path)}) == tmp_path / "data" / "cache"
