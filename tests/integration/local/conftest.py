"""A running `up` to send real signals to, and the means to see that nothing of it is left."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gateway.local import process_table
from tests.integration.local.fake_vllm import make_environment

PROGRAM = Path(__file__).with_name("up_with_fakes.py")
ROOT = Path(__file__).parents[3]
PATIENCE_S = 60.0


@dataclass(slots=True)
class Up:
    """One data folder, on which `up` is started as often as a test likes."""

    folder: Path
    mark: str
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def ready_file(self) -> Path:
        return self.folder / "asked-for.json"

    @property
    def ready(self) -> dict[str, dict[str, int]]:
        found = json.loads(self.ready_file.read_text())
        assert isinstance(found, dict)
        return found

    @property
    def temporary(self) -> Path:
        return Path((self.data / "run" / "temporary").read_text())

    @property
    def said(self) -> str:
        return (self.folder / "said.txt").read_text()

    def start(self, kind: str = "none", **variables: str) -> subprocess.Popen[bytes]:
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "UP_MARK": self.mark,
            "DRILLYARD_MODEL__FOLDER": str(self.folder),
            "DRILLYARD_CACHE": str(self.folder / "cache"),
            "FAKE_MODEL": str(self.folder / "model"),
            "FAKE_VLLM_ENV": str(self.folder / "vllm"),
            **variables,
        }
        with (self.folder / "said.txt").open("wb") as out:
            argv = [sys.executable, str(PROGRAM), str(self.data), str(self.ready_file), kind]
            process = subprocess.Popen(argv, env=environment, stdout=out, stderr=subprocess.STDOUT, cwd="/")
        self.started.append(process)
        return process

    def until(self, holds: Callable[[], object]) -> None:
        """Wait for something of the one started last."""
        deadline = time.monotonic() + PATIENCE_S
        while not holds():
            assert self.started[-1].poll() is None, self.said
            assert time.monotonic() < deadline, self.said
            time.sleep(0.01)

    def until_said(self, words: str) -> None:
        self.until(lambda: words in self.said)

    def until_ready(self) -> None:
        self.until_said("ready at")

    def left(self) -> list[str]:
        """What still runs of all that was started here, by the mark everything inherits."""
        return [f"{pid} {name}" for pid, name in self._living()]

    def end_what_is_left(self) -> list[str]:
        """So that a test which fails in the middle leaves nothing either; returns what there was."""
        left = self.left()
        deadline = time.monotonic() + PATIENCE_S
        while (living := self._living()) and time.monotonic() < deadline:
            for pid, _ in living:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)
        return left

    def _living(self) -> list[tuple[int, str]]:
        return [(one.pid, name) for one in process_table.living() if (name := _marked(one.pid, self.mark, self.data))]

    def end(self) -> None:
        for process in self.started:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                process.send_signal(signal.SIGINT)
                process.wait(PATIENCE_S)


def _marked(pid: int, mark: str, data: Path) -> str:
    """The command line of a process that carries the mark, or works on our data (Postgres gets no variables)."""
    folder = Path("/proc") / str(pid)
    try:
        environment = (folder / "environ").read_bytes()
        words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        cwd = str((folder / "cwd").readlink())
    except OSError:
        return ""
    return words if f"UP_MARK={mark}".encode() in environment or cwd.startswith(str(data)) else ""


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Up]:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    make_environment(tmp_path / "vllm")
    one = Up(folder=tmp_path, mark=f"{os.getpid()}-{tmp_path.name}")
    yield one
    one.end()
    left = one.end_what_is_left()
    elsewhere = one.data / "postgres" / "the-cluster-lies-in"
    if elsewhere.exists():  # root's temporary folders are closed to the account Postgres runs with
        shutil.rmtree(elsewhere.read_text().strip())
    shutil.rmtree(one.data / "postgres", ignore_errors=True)  # 40 MB
    assert left == []
