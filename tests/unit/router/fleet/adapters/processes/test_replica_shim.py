"""The process that stands between an engine and its host."""

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from router.fleet.adapters.processes import replica_shim
from router.fleet.adapters.processes.replica_shim import Entry, Process, entry, family_of, living, write


def of(pid: int, parent: int, session: int) -> Entry:
    return Entry(Process(pid, 0), parent, session, is_dead=False)


def test_its_family_is_its_session_and_all_who_descend_from_it() -> None:
    session, child, grandchild = of(11, 1, 10), of(12, 10, 12), of(13, 12, 13)
    everybody = [of(10, 1, 10), session, child, grandchild, of(14, 1, 14), of(1, 0, 1)]
    assert family_of(10, everybody) == (session.process, child.process, grandchild.process)


def test_it_knows_the_living() -> None:
    own = entry(os.getpid())
    assert own is not None
    assert own.parent == os.getppid()
    assert own in living()
    assert entry(2**22 + 1) is None


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "file"
    write(file, {"a": 1})
    with pytest.raises(TypeError):
        write(file, object())
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
    assert json.loads(file.read_text()) == {"a": 1}


def shim(folder: Path, *command: str, before: Callable[[], None] | None = None) -> "subprocess.CompletedProcess[str]":
    words = (replica_shim.__file__, str(folder), str(folder / "log"), "0", "8000", "5", "0", *command)
    return subprocess.run(
        [sys.executable, "-I", "-S", *words], capture_output=True, text=True, check=False, preexec_fn=before
    )


def test_it_says_why_it_cannot_begin_and_starts_no_engine(tmp_path: Path) -> None:
    done = shim(tmp_path / "away", "touch", str(tmp_path / "began"))
    assert done.returncode == 1
    assert "No such file" in done.stderr

    def full_disk() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    done = shim(tmp_path, "touch", str(tmp_path / "began"), before=full_disk)
    assert (done.returncode, "File too large" in done.stderr) == (1, True)
    assert not (tmp_path / "began").exists()
