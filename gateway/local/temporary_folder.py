"""The folder for what the replicas of one run write for a moment (sockets above all): gone when the run is."""

import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PREFIX = "drillyard-"


@contextmanager
def temporary_folder(note: Path) -> Iterator[Path]:
    """A folder with a short path, since that of a socket may have about 100 characters only.

    It is noted in `note` before it is made, so the start after a SIGKILL finds it.
    """
    _sweep(note)
    folder = Path(tempfile.gettempdir()) / f"{_PREFIX}{secrets.token_hex(4)}"
    note.write_text(str(folder))
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        _sweep(note)


def _sweep(note: Path) -> None:
    try:
        folder = Path(note.read_text())
    except (OSError, UnicodeDecodeError):
        return
    # A note that was spoiled must not cost anybody a folder.
    if folder.is_absolute() and folder.name.startswith(_PREFIX) and not folder.is_symlink():
        shutil.rmtree(folder, ignore_errors=True)
    note.unlink(missing_ok=True)
