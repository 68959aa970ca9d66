"""Locust runs as a process of its own, is told its aim where nobody else reads it, and leaves nothing behind."""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from loadtests.conduct import locust_process
from loadtests.conduct.locust_process import LocustProcess, command, require_locust
from loadtests.conduct.order import DrillFailed
from loadtests.run_folder import RunFolder
from loadtests.target import Replica, Target

TARGET = Target(
    base_urls=("http://127.0.0.1:1",),
    keys=("dy_secret",),
    scenario="s",
    model="m",
    system="Be kind.",
    replicas=(Replica("replica-1", "http://127.0.0.1:2"),),
)
TELLS = """
import json, os, sys
aim = os.environ["DRILLYARD_LOAD_AIM"]
first, second = json.load(open(aim)), json.load(open(aim))
told = {"aim": first, "again": first == second, "links": os.stat(aim).st_nlink}
json.dump(told, open(os.path.join(os.environ["DRILLYARD_LOAD_RUN"], "told.json"), "w"))
"""
STAYS = """
import os, pathlib, signal, subprocess, sys, time
deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
child = subprocess.Popen([sys.executable, "-c", deaf])
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
(pathlib.Path(os.environ["DRILLYARD_LOAD_RUN"]) / "child").write_text(str(child.pid))
time.sleep(60)
"""


def made(folder: Path, code: str, monkeypatch: pytest.MonkeyPatch) -> LocustProcess:
    """A program instead of Locust: here it matters only how it is started and ended."""
    program = folder / "program.py"
    program.write_text(code)
    words = [*command(1)[:1], str(program)]
    monkeypatch.setattr(locust_process, "command", lambda _: words)
    return LocustProcess(RunFolder(folder), TARGET, bell_at=12.5, workers=1)


def until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_its_aim_is_for_its_eyes_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with made(tmp_path, TELLS, monkeypatch) as process:
        until(lambda: process.exit_code is not None)
        assert process.exit_code == 0
    told = json.loads((tmp_path / "told.json").read_text())
    assert told["aim"] == {
        "base_urls": ["http://127.0.0.1:1"],
        "keys": ["dy_secret"],
        "service_key": None,
        "scenario": "s",
        "model": "m",
        "system": "Be kind.",
        "replicas": {"http://127.0.0.1:2": "replica-1"},
        "tokenize_url": "http://127.0.0.1:2",
        "bell_at": 12.5,
    }
    assert told["again"]  # each worker reads it
    assert told["links"] == 0  # it has no name on any disk
    written = [file for file in tmp_path.iterdir() if file.name not in {"told.json", "program.py"}]
    assert not [file for file in written if "dy_secret" in file.read_text()]


def test_it_is_ended_with_all_that_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child = tmp_path / "child"
    with made(tmp_path, STAYS, monkeypatch) as process:
        until(lambda: child.exists() and child.read_text())
        still = process.exit_code
        assert process.pid != os.getpid()
    assert (still, process.exit_code) == (None, 7)
    until(lambda: not lives(int(child.read_text())))


def test_what_it_said_last_is_its_last_complaint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "print('starting'); print('ValueError: too bad'); print('shutting down'); print('-----'); raise SystemExit(3)"
    )
    with made(tmp_path, code, monkeypatch) as process:
        until(lambda: process.exit_code is not None)
    assert (process.exit_code, process.last_words()) == (3, "ValueError: too bad")
    (tmp_path / "locust.log").write_text("all is well\n|----|\n\n")
    assert process.last_words() == "all is well"
    (tmp_path / "locust.log").unlink()
    assert process.last_words() == ""


def test_it_is_not_asked_before_it_was_started(tmp_path: Path) -> None:
    process = LocustProcess(RunFolder(tmp_path), TARGET, bell_at=0.0, workers=1)
    with pytest.raises(RuntimeError, match="not started"):
        _ = process.pid


def test_an_installation_without_locust_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    require_locust()
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.delitem(sys.modules, "locust", raising=False)
    with pytest.raises(DrillFailed, match=r"drillyard\[load\]"):
        require_locust()


def test_one_trainees_process_plays_alone_and_several_are_workers_of_one_more() -> None:
    assert "--processes" not in command(1)
    words = command(2)
    assert words[words.index("--processes") + 1] == "2"
