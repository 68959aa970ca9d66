"""Stands between a replica's engine and its host: runs the engine as its child, and outlives whoever asked for it.

It is run by its path and needs the standard library alone. It leads a session of its own, is adopted by init, and
holds a lock as long as it lives, so that one order never has two of it. The kernel kills the engine when the shim dies,
whatever it dies of. On SIGTERM the engine is asked to end, and after its grace everything of the session is killed; how
the engine ended is written down.

usage: replica_shim.py FOLDER LOG SLOT PORT GRACE_S PORT_FD COMMAND...
"""

import ctypes
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, TextIO

RUN, LOCK = "run.json", "lock"
_PROC = Path("/proc")
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_WATCHED = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD}
_FIRST_LOOK_S, _LOOK_EVERY_S = 0.5, 15.0
_POLL_S = 0.02
_REST_ENDS_WITHIN_S = 6.0  # an engine of vLLM needs four to remove its shared memory
_LIBC = ctypes.CDLL(None, use_errno=True)


class Process(NamedTuple):
    """`started`, in clock ticks since boot, tells it from a later one with the same number."""

    pid: int
    started: int


class Entry(NamedTuple):
    """What /proc says of one process."""

    process: Process
    parent: int
    session: int
    is_dead: bool


class Run(NamedTuple):
    """What the shim tells of itself; `family` is everybody else who belongs to it."""

    shim: Process
    boot: str
    slot: str
    port: int
    log_began: int
    """What stands before it in the log is an earlier run's."""
    family: tuple[Process, ...] = ()
    ended: bool = False
    code: int = 0
    fault: str = ""
    """Why the engine was never there."""


def entry(pid: int) -> Entry | None:
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The program's name stands in parentheses and may itself hold spaces and parentheses.
    fields = text.rpartition(")")[2].split()
    return Entry(Process(pid, int(fields[19])), int(fields[1]), int(fields[3]), fields[0] in {"Z", "X"})


def living() -> list[Entry]:
    found = (entry(int(folder.name)) for folder in _PROC.iterdir() if folder.name.isdecimal())
    return [one for one in found if one is not None and not one.is_dead]


def family_of(shim: int, everybody: list[Entry]) -> tuple[Process, ...]:
    """Whoever is in its session or descends from it, itself not."""
    family = {shim}
    while more := {
        one.process.pid
        for one in everybody
        if one.process.pid not in family and (one.session == shim or one.parent in family)
    }:
        family |= more
    return tuple(sorted(one.process for one in everybody if one.process.pid in family - {shim}))


def boot() -> str:
    return (_PROC / "sys/kernel/random/boot_id").read_text().strip()


def write(file: Path, content: object) -> None:
    """Whole or not at all."""
    fresh = file.with_name(f"{file.name}.{os.getpid()}.new")
    try:
        fresh.write_text(json.dumps(content))
        fresh.replace(file)
    finally:
        fresh.unlink(missing_ok=True)


class Shim:
    def __init__(self, folder: Path, *, run: Run, log: int, grace_s: float) -> None:
        self._file = folder / RUN
        self._run = run
        self._log = log
        self._grace_s = grace_s
        write(self._file, run._asdict())

    def start(self, command: list[str]) -> "subprocess.Popen[bytes] | None":
        shim, mask = os.getpid(), signal.pthread_sigmask(signal.SIG_BLOCK, ())

        def in_the_engine() -> None:
            _LIBC.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
            if os.getppid() != shim:  # the shim died between the fork and the line above
                os._exit(1)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask - _WATCHED)

        try:
            engine = subprocess.Popen(  # noqa: S603  the operator's own command
                command,
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=subprocess.STDOUT,
                process_group=0,
                preexec_fn=in_the_engine,  # noqa: PLW1509  no thread runs here
            )
        except (OSError, ValueError) as error:
            self._tell(ended=True, fault=f"it cannot be started: {error}")
            return None
        self._look()
        return engine

    def watch(self, engine: "subprocess.Popen[bytes]", *, lock: int) -> None:
        """Until the engine has ended and nobody of its family is left. Whose lock was deleted (not moved) has nobody
        any more who could end it.
        """
        kill_at, pause_s = float("inf"), _FIRST_LOOK_S
        while engine.poll() is None:
            caught = signal.sigtimedwait(_WATCHED, min(pause_s, max(0.0, kill_at - time.monotonic())))
            pause_s = min(_LOOK_EVERY_S, 1.5 * pause_s)  # what an engine needs around it, it starts in its first minute
            is_asked = caught is not None and caught.si_signo != signal.SIGCHLD
            if (is_asked or not os.fstat(lock).st_nlink) and kill_at == float("inf"):
                kill_at = time.monotonic() + self._grace_s
                engine.terminate()
            _reap_all_but(engine.pid)
            if time.monotonic() >= kill_at:
                os.killpg(engine.pid, signal.SIGKILL)  # not reaped yet, so the number is its own
            self._look()
        self._end_the_rest(time.monotonic() + min(_REST_ENDS_WITHIN_S, max(0.0, kill_at - time.monotonic())))
        self._tell(ended=True, code=engine.returncode)

    def _end_the_rest(self, deadline: float) -> None:
        asked = False
        while rest := family_of(os.getpid(), living()):
            late = time.monotonic() >= deadline
            for one in rest if late or not asked else ():
                with suppress(ProcessLookupError):
                    os.kill(one.pid, signal.SIGKILL if late else signal.SIGTERM)
            asked = True
            time.sleep(_POLL_S)
            with suppress(ChildProcessError):  # orphans of the engine are ours to reap
                os.waitpid(-1, os.WNOHANG)

    def _look(self) -> None:
        family = family_of(os.getpid(), living())
        if family != self._run.family:
            self._tell(family=family)

    def _tell(self, **news: object) -> None:
        self._run = self._run._replace(**news)  # type: ignore[arg-type]
        with suppress(OSError):  # a full disk ends no replica
            write(self._file, self._run._asdict())


def _reap_all_but(engine: int) -> None:
    """Orphans of the engine, which are ours; it itself is waited for elsewhere."""
    while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        if ended.si_pid == engine:
            return
        os.waitpid(ended.si_pid, 0)


@contextmanager
def the_only_one(folder: Path) -> Iterator[int | None]:
    """The lock that is held; None: another one holds it."""
    with (folder / LOCK).open("a") as lock:
        try:
            fcntl.flock(lock.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
        else:
            yield lock.fileno()


def supervise(folder: Path, words: list[str], *, begun: TextIO) -> None:
    """`begun` is closed once the shim has written down that it runs."""
    log_file, slot, port, grace_s, _, *command = words
    signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
    _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with the_only_one(folder) as lock, Path(log_file).open("ab") as log:
        own = entry(os.getpid())
        if lock is None or own is None:
            return
        run = Run(own.process, boot(), slot, int(port), log.tell())
        shim = Shim(folder, run=run, log=log.fileno(), grace_s=float(grace_s))
        begun.close()
        engine = shim.start(command)
        if engine is not None:
            shim.watch(engine, lock=lock)


def main(words: list[str]) -> int:
    reading, writing = os.pipe()
    if os.fork():
        os.close(writing)
        with os.fdopen(reading) as told:
            why_not = told.read()
        sys.stderr.write(why_not)
        return 1 if why_not else 0
    os.close(reading)
    os.setsid()
    sys.stderr.flush()
    _leave_streams()
    with os.fdopen(writing, "w") as begun:
        try:
            supervise(Path(words[0]), words[1:], begun=begun)
        except OSError as error:
            if not begun.closed:
                begun.write(str(error))
    return 0


def _leave_streams() -> None:
    """Whoever started it may wait for the end of them."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
