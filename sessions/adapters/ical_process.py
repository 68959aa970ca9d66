"""Reads calendars in processes of their own, which are ended when they take too long.

A calendar is written by strangers, and one line of it can stand for a million events: whatever it does to the libraries
happens elsewhere, without our settings and secrets, and nobody's turn waits for it.
"""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from typing_extensions import override

import sessions
from sessions.adapters.ical_child import DEFAULTS, FILE
from sessions.domain.class_rows import ClassFault, ClassFile, RowDefaults
from sessions.drill_ports import ClassFileReader

_CHILD = "sessions.adapters.ical_child"


class CalendarProcesses(ClassFileReader):
    def __init__(self, *, limit_s: float = 20.0, at_once: int = 2) -> None:
        self._limit_s = limit_s
        self._places = asyncio.Semaphore(at_once)

    @override
    async def read(self, raw: bytes, defaults: RowDefaults, *, now: datetime) -> ClassFile:
        words = (str(int(self._limit_s) + 1), now.isoformat(), DEFAULTS.dump_json(defaults).decode())
        async with self._places:
            process = await _started(words)
            try:
                async with asyncio.timeout(self._limit_s):
                    told, _ = await process.communicate(raw)
            except TimeoutError:
                return _refused(f"it could not be read within {self._limit_s:g} s; send fewer or simpler events")
            finally:
                await _end(process)
        if process.returncode:
            return _refused("it is no calendar that can be read")
        return await asyncio.to_thread(FILE.validate_json, told)


async def _started(words: tuple[str, ...]) -> Process:
    # Of the environment it gets only where to find us: the rest holds secrets.
    environment = {
        "PYTHONPATH": str(Path(sessions.__file__).parents[1]),
        "PYTHONSAFEPATH": "1",
        "LC_ALL": "C.UTF-8",
    }
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", _CHILD, *words, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, cwd="/", env=environment
    )


def _refused(detail: str) -> ClassFile:
    return ClassFile(faults=(ClassFault("the file", detail),))


async def _end(process: Process) -> None:
    """No child outlives its calendar, however its reading ended."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
