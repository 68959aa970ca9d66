"""What processes of this machine have used, with all that they have started."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 1e6
_AFTER_NAME = 2
"""Fields of /proc/PID/stat that stand before those after the name, which may hold spaces."""
_UTIME, _CSTIME = 13, 16


@dataclass(frozen=True, slots=True)
class Used:
    cpu_s: float
    memory_mb: float


def used(pid: int) -> Used | None:
    """By the process and its children, those that have ended included; None when it is gone.

    What children share with their parent is counted once, as with the backends of Postgres.
    """
    try:
        cpu_s, memory_mb = _cpu_s(pid), _memory_mb(pid, is_child=False)
    except (OSError, ValueError, IndexError):
        return None
    for child in _descendants(pid):
        try:
            cpu_s, memory_mb = cpu_s + _cpu_s(child), memory_mb + _memory_mb(child, is_child=True)
        except (OSError, ValueError, IndexError):
            continue  # it has just ended
    return Used(cpu_s, memory_mb)


def _descendants(pid: int) -> Iterator[int]:
    for task in _listed(_PROC / str(pid) / "task"):
        for child in _children(_PROC / str(pid) / "task" / task / "children"):
            yield child
            yield from _descendants(child)


def _children(file: Path) -> list[int]:
    try:
        return [int(word) for word in file.read_text().split()]
    except (OSError, ValueError):
        return []


def _listed(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _cpu_s(pid: int) -> float:
    fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    return sum(int(each) for each in fields[_UTIME - _AFTER_NAME : _CSTIME - _AFTER_NAME + 1]) / _TICKS


def _memory_mb(pid: int, *, is_child: bool) -> float:
    _, resident, shared, *_ = (_PROC / str(pid) / "statm").read_text().split()
    return (int(resident) - (int(shared) if is_child else 0)) * _PAGE_MB
