"""The commands to try a running stack with, as they work when they are typed where it was started."""

import os
import shlex
import shutil
import sys
from pathlib import Path

from gateway.cli.connection import DEFAULT_DATA

_TRIES = (("chat",), ("drill", "run", "--trainees", "4", "--turns", "25"))


def try_it(data: Path, *, interpreter: Path | None = None, here: Path | None = None) -> list[str]:
    """By default for this interpreter and the current folder."""
    program = _program(interpreter or Path(sys.executable), here or Path.cwd())
    where = () if data == DEFAULT_DATA else ("--data", str(data))
    return [shlex.join((*program, *words, *where)) for words in _TRIES]


def _program(interpreter: Path, here: Path) -> tuple[str, ...]:
    script = interpreter.with_name("drillyard")
    if not os.access(script, os.X_OK):  # run from its sources
        return (str(interpreter), "-m", "gateway.cli.main")
    if shutil.which("drillyard") == str(script):
        return ("drillyard",)
    return (str(script.relative_to(here) if script.is_relative_to(here) else script),)
