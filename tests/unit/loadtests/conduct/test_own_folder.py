import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from loadtests.conduct.own_folder import own_folder

ROOT = Path(__file__).parents[4]
PREFIX = "own-folder-"
KILLED = f"""
import os, signal
from loadtests.conduct.own_folder import own_folder
with own_folder({PREFIX!r}) as folder:
    (folder.path / "data").mkdir()
    os.kill(os.getpid(), signal.SIGKILL)
"""

HANDED_ON = f"""
import os, signal, subprocess, sys
from loadtests.conduct.own_folder import own_folder
with own_folder({PREFIX!r}) as folder:
    subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], pass_fds=(folder.hold,))
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_it_is_gone_at_the_end(place: Path) -> None:
    with own_folder(PREFIX) as folder:
        (folder.path / "data").mkdir()
        assert folder.path.parent == place
    assert list(place.iterdir()) == []


def test_what_a_killed_one_left_goes_with_the_next(place: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED], cwd=ROOT, check=False)
    (left,) = place.iterdir()
    with own_folder(PREFIX) as folder:
        assert list(place.iterdir()) == [folder.path]
    assert left != folder.path


def test_what_is_in_use_or_nobody_holds_in_this_way_stays(place: Path) -> None:
    stranger = place / f"{PREFIX}stranger"
    stranger.mkdir()
    with own_folder(PREFIX) as first, own_folder(PREFIX) as second:
        assert set(place.iterdir()) == {stranger, first.path, second.path}


def test_who_was_handed_it_still_uses_it(place: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HANDED_ON], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as killed:
        assert killed.wait() == -signal.SIGKILL
        (left,) = place.iterdir()
        with own_folder(PREFIX):
            assert left.exists()
        assert killed.stdin is not None
        assert killed.stdout is not None
        killed.stdin.close()
        assert killed.stdout.read() == b""  # its heir has ended too
    with own_folder(PREFIX):
        assert not left.exists()
