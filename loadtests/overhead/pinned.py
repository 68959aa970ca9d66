"""Processes that are held to one core, what they use, and their end."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from urllib.error import URLError
from urllib.request import Request, urlopen

_START_S = 60.0
_END_S = 5.0
_ASK_S = 0.05
_TICKS = os.sysconf("SC_CLK_TCK")


class TargetFailed(Exception):
    """A process that is needed did not start; what it said last goes with it."""


@dataclass(frozen=True, slots=True)
class PinnedProcess:
    """A process on a core of its own, with whatever it starts itself."""

    pid: int

    def cpu_s(self) -> float:
        """Processor time so far."""
        return sum(_cpu_s(pid) for pid in self._family())

    def waited_s(self) -> float:
        """For so long it could have run and somebody else had its core."""
        return sum(_waited_s(pid) for pid in self._family())

    def memory_mb(self) -> float:
        return sum(_memory_mb(pid) for pid in self._family())

    def is_running(self) -> bool:
        """One that has ended stays in the process table until it is waited for."""
        return _state(self.pid) not in {"", "Z"}

    def move_to(self, core: int) -> None:
        """It and whatever it has started, each with all its threads; what they start later goes there too."""
        for pid in self._family():
            for task in Path(f"/proc/{pid}/task").iterdir():
                os.sched_setaffinity(int(task.name), {core})

    def _family(self) -> Sequence[int]:
        found, waiting = [], [self.pid]
        while waiting:
            pid = waiting.pop()
            found.append(pid)
            waiting += _children(pid)
        return found


@contextmanager
def pinned(
    command: Sequence[str],
    *,
    core: int | None,
    log: Path,
    ready: str = "",
    environment: Mapping[str, str] | None = None,
    end_s: float = _END_S,
) -> Iterator[PinnedProcess]:
    """Run it, on any core if None is named; with `ready`, a URL, entered once that answers. Raises `TargetFailed`."""
    held = () if core is None else _held_to(core)
    with log.open("wb") as out:
        process = subprocess.Popen((*held, *command), stdout=out, stderr=subprocess.STDOUT, env=environment)  # noqa: S603 - our own command lines
    try:
        if ready:
            _wait(process, ready, log)
        yield PinnedProcess(process.pid)
    finally:
        _end(process, end_s)


def _held_to(core: int) -> Sequence[str]:
    taskset = shutil.which("taskset")
    if taskset is None:
        raise TargetFailed("taskset is needed (util-linux)")
    return (taskset, "-c", str(core))


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        number: int = listener.getsockname()[1]
        return number


def answers(url: str) -> bool:
    try:
        with urlopen(Request(url), timeout=1.0) as response:  # noqa: S310 - loopback
            return bool(response.status == 200)  # noqa: PLR2004
    except (URLError, OSError):
        return False


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = monotonic() + _START_S
    while not answers(url):
        if process.poll() is not None or monotonic() > deadline:
            raise TargetFailed(f"{log.name}\n{log.read_text(errors='replace')[-2000:]}")
        sleep(_ASK_S)


def _end(process: subprocess.Popen[bytes], within_s: float) -> None:
    process.terminate()
    try:
        process.wait(within_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _state(pid: int) -> str:
    fields = _stat(pid)
    return fields[0] if fields else ""


def _stat(pid: int) -> Sequence[str]:
    """What stands behind the name; nothing of a process that is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ()


def _cpu_s(pid: int) -> float:
    fields = _stat(pid)
    if not fields:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _waited_s(pid: int) -> float:
    """Of the thread that waited most: several wait for each other, which is no foreign load."""
    waited = 0.0
    for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with suppress(OSError):
            waited = max(waited, int(file.read_text().split()[1]) / 1e9)
    return waited


def _memory_mb(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:")), 0.0)


def _children(pid: int) -> Sequence[int]:
    try:
        words = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return ()
    return [int(word) for word in words]
