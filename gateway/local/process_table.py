"""What /proc says about processes: when they began, which group they are in, what they run and where."""

from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Entry:
    """One living process. `started` (clock ticks since boot) tells it from a later one with the same number."""

    pid: int
    parent: int
    group: int
    started: int
    zombie: bool


def entry(pid: int) -> Entry | None:
    try:
        text = (PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The program's name stands in parentheses and may itself hold spaces and parentheses.
    fields = text.rpartition(")")[2].split()
    return Entry(
        pid=pid,
        parent=int(fields[1]),
        group=int(fields[2]),
        started=int(fields[19]),
        zombie=fields[0] in {"Z", "X"},
    )


def everyone() -> list[Entry]:
    found = (entry(int(folder.name)) for folder in PROC.iterdir() if folder.name.isdecimal())
    return [one for one in found if one is not None]


def living() -> list[Entry]:
    return [one for one in everyone() if not one.zombie]


def members(group: int) -> list[Entry]:
    return [one for one in living() if one.group == group]


def working_in(folder: Path, *, program: str) -> list[int]:
    """Processes that run `program` with `folder` as their working directory."""
    return [one.pid for one in living() if _runs(one.pid, program) and _link(one.pid, "cwd") == str(folder)]


def _runs(pid: int, program: str) -> bool:
    # The link of a program whose file was replaced or removed carries a note after its name.
    return Path(_link(pid, "exe").removesuffix(" (deleted)")).name == program


def _link(pid: int, name: str) -> str:
    try:
        return str((PROC / str(pid) / name).readlink())
    except OSError:
        return ""
