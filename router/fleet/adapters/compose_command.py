"""Runs `docker compose` on one file: word by word and never through a shell, each time with a deadline."""

import asyncio
import os
import signal
import subprocess
import tempfile
import time
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Final

from router.fleet.domain.engine_log import short
from router.fleet.errors import HostUnavailable

POLL_S: Final = 0.02
LARGEST_ANSWER: Final = 16 * 1024 * 1024


class ComposeCommand:
    def __init__(self, *, program: Sequence[str], file: Path, project: str) -> None:
        self._program = tuple(program)
        self._where = ("-f", str(file), "-p", project)

    async def answer(self, *words: str, within_s: float) -> str:
        """What it writes; raises `HostUnavailable` when it fails or takes too long."""
        job = self.begin(*words, within_s=within_s)
        try:
            await job.ends(within_s=within_s + POLL_S)
        finally:
            job.end()
        if job.failure:
            raise HostUnavailable(job.failure)
        return job.answer

    def begin(self, *words: str, within_s: float) -> "ComposeJob":
        """It goes on by itself, in a session of its own: what ends this process leaves it to its work."""
        out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 - the job closes them
        try:
            process = subprocess.Popen(  # noqa: S603 - the program is the operator's setting
                (*self._program, *self._where, *words),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        except OSError as error:
            out.close()
            err.close()
            raise HostUnavailable(f"{self._program[0]} cannot be run: {error.strerror}") from error
        name = f"{' '.join(self._program)} {words[0]}"
        return ComposeJob(name=name, process=process, out=out, err=err, within_s=within_s)


class ComposeJob:
    def __init__(
        self, *, name: str, process: subprocess.Popen[bytes], out: IO[bytes], err: IO[bytes], within_s: float
    ) -> None:
        self._name = name
        self._process = process
        self._out = out
        self._err = err
        self._within_s = within_s
        self._deadline = time.monotonic() + within_s
        self._answer = self._failure = ""
        weakref.finalize(self, _close, out, err)

    def goes_on(self) -> bool:
        """Not for longer than it was given: it is ended then, which is a failure."""
        if self._out.closed:
            return False
        if self._process.poll() is None:
            if time.monotonic() < self._deadline:
                return True
            self.end()
        else:
            self._keep()
        return False

    @property
    def answer(self) -> str:
        return self._answer

    @property
    def failure(self) -> str:
        """In one line; empty where there was none."""
        return self._failure

    async def ends(self, *, within_s: float) -> bool:
        deadline = time.monotonic() + within_s
        while self.goes_on():
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(POLL_S)
        return True

    def end(self) -> None:
        """The whole session of it, for it has children."""
        if self._out.closed:
            return
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._failure = f"{self._name} took longer than {self._within_s:g} s"
        self._keep()

    def _keep(self) -> None:
        with self._out, self._err:
            for file in (self._out, self._err):
                file.seek(0)
            self._answer = self._out.read(LARGEST_ANSWER).decode(errors="replace")
            said = _last_line(self._err.read(LARGEST_ANSWER).decode(errors="replace"))
        if self._process.returncode and not self._failure:
            self._failure = f"{self._name}: {said or f'exit code {self._process.returncode}'}"


def _close(*files: IO[bytes]) -> None:
    """Of a job whose end nobody has waited for."""
    for file in files:
        file.close()


def _last_line(text: str) -> str:
    """The last one that says something: what went wrong, where a command failed."""
    return next((line for raw in reversed(text.splitlines()) if (line := short(raw))), "")
