"""A temporary folder that is gone in the end: of who was killed, once the next one is made."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_LOCK = "in-use"


@dataclass(frozen=True, slots=True)
class OwnFolder:
    path: Path
    hold: int
    """An open file: the folder is in use as long as any process holds it."""


@contextmanager
def own_folder(prefix: str) -> Iterator[OwnFolder]:
    for left in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        _clear(left)
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        hold = os.open(folder / "new", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(hold, fcntl.LOCK_EX)
            (folder / "new").rename(folder / _LOCK)  # nobody sees it before it is held
            yield OwnFolder(folder, hold)
        finally:
            os.close(hold)


def _clear(left: Path) -> None:
    """Unless it is in use, or somebody else's."""
    try:
        hold = os.open(left / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if os.fstat(hold).st_uid == os.getuid():
            fcntl.flock(hold, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left, ignore_errors=True)
    except BlockingIOError:
        pass
    finally:
        os.close(hold)
