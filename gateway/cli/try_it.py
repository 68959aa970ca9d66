"""The commands to try a running stack with, as they work when they are typed where it was started."""

import os
import shlex
import shutil
import sys
from pathlib import Path

from gateway.cli.connection import DEFAULT_DATA

_TRIES = (("chat",), ("drill", "run", "--trainees", "4", "--turns", "25"))
_PLANS = (
    ("drill", "add", "--scenario", "en", "--in", "4m", "--for", "20m", "--trainees", "8"),
    ("fleet", "status", "--watch"),
    ("chat", "--drill", "ID"),
)


def try_it(
    data: Path, *, by_calendar: bool = False, interpreter: Path | None = None, here: Path | None = None
) -> list[str]:
    """By default for this interpreter and the current folder. `by_calendar`: nobody is there before a class is."""
    program = _program(interpreter or Path(sys.executable), here or Path.cwd())
    where = () if data == DEFAULT_DATA else ("--data", str(data))
    return [shlex.join((*program, *words, *where)) for words in (_PLANS if by_calendar else _TRIES)]


def _program(interpreter: Path, here: Path) -> tuple[str, ...]:
    script = interpreter.with_name("drillyard")
    if not os.access(script, os.X_OK):  # run from its sources
        return (str(interpreter), "-m", "gateway.cli.main")
    if shutil.which("drillyard") == str(script):
        return ("drillyard",)
    return (str(script.relative_to(here) if script.is_relative_to(here) else script),)
