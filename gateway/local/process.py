"""One supervised process: its own group, its log file, its end tied to ours, and a stop that leaves nothing.

A child leads a new session, so a Ctrl-C in the terminal reaches only us and we decide the order of stopping. The
kernel signals it when we die, even by SIGKILL. That signal belongs to the *thread* that forked, so children are
started from the main thread; and it is set after the change of user, which would clear it.
"""

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gateway.local import process_table
from gateway.local.account import Account
from gateway.local.errors import BinaryMissing

POLL_S = 0.02
_PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """How a process is run and how it likes to be stopped. `env` is the whole environment, None is ours."""

    name: str
    argv: tuple[str, ...]
    log: Path
    env: Mapping[str, str] | None = field(default=None, repr=False)
    cwd: Path | None = None
    account: Account | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    grace_s: float = 10.0


class Child:
    """A started command. It is reaped by `finish` alone, so its number stays its own until then."""

    def __init__(self, *, command: Command, process: subprocess.Popen[bytes], log_began: int) -> None:
        self.command = command
        self.log_began = log_began  # what stands before it in the log is an earlier child's
        self.pid = process.pid
        self._process = process
        found = process_table.entry(process.pid)
        self.started = found.started if found is not None else 0

    def exit_code(self) -> int | None:
        """The code of a process that has ended (negative: the signal), None while it runs."""
        if self._process.returncode is not None:
            return self._process.returncode
        status = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if status is None:
            return None
        return status.si_status if status.si_code == os.CLD_EXITED else -status.si_status

    def ask_to_stop(self) -> None:
        if self.exit_code() is None:
            os.kill(self.pid, self.command.stop_signal)

    def ask_the_rest_to_stop(self) -> None:
        """Of a leader that has ended: its descendants may have something to tidy up, such as shared memory."""
        if self._process.returncode is None:
            os.killpg(self.pid, self.command.stop_signal)

    def leaves_somebody(self) -> bool:
        return bool(process_table.members(self.pid))

    def finish(self) -> int:
        """Kill what is left of the group and reap it; the leader is still unreaped, so the number is ours."""
        if self._process.returncode is None:
            os.killpg(self.pid, signal.SIGKILL)
            self._process.wait()
            _reap_orphans(self.pid)
        return int(self._process.returncode)

    def stop(self) -> int:
        stop_together([self])
        return self.finish()


def start(command: Command) -> Child:
    command.log.parent.mkdir(parents=True, exist_ok=True)
    account = command.account
    with command.log.open("ab") as log:
        log_began = log.tell()
        try:
            process = subprocess.Popen(  # noqa: S603  the command is ours, not a user's text
                command.argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=None if command.env is None else dict(command.env),
                cwd=command.cwd,
                start_new_session=True,
                user=None if account is None else account.uid,
                group=None if account is None else account.gid,
                extra_groups=None if account is None else [],
                # No thread of ours runs while children are started, which is what makes this hook safe.
                preexec_fn=_die_with_parent(command.stop_signal),  # noqa: PLW1509
            )
        except (FileNotFoundError, PermissionError) as error:
            raise BinaryMissing(
                f"{command.name} cannot be started: {error}",
                hint="run `make setup` again, or check the path and its permissions",
                log=command.log,
            ) from error
    return Child(command=command, process=process, log_began=log_began)


def stop_together(children: Sequence[Child], *, hurry: Callable[[], bool] = lambda: False) -> None:
    """Ask all, wait for the slowest one's grace or for `hurry`, then kill and reap every group."""
    for child in children:
        child.ask_to_stop()
    deadline = time.monotonic() + max((child.command.grace_s for child in children), default=0.0)
    while any(child.exit_code() is None for child in children) and time.monotonic() < deadline:
        if hurry():
            break
        time.sleep(POLL_S)
    for child in children:
        child.finish()


def _reap_orphans(group: int, *, patience_s: float = 5.0) -> None:
    """Collect a dead leader's descendants; they become ours when this process adopts orphans, else init's."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        try:
            reaped, _ = os.waitpid(-group, os.WNOHANG)
        except ChildProcessError:
            if not process_table.members(group):
                return
            reaped = 0
        if not reaped:
            time.sleep(POLL_S)


def _die_with_parent(death_signal: signal.Signals) -> Callable[[], None]:
    parent = os.getpid()

    def in_the_child() -> None:
        LIBC.prctl(_PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
        if os.getppid() != parent:  # we died between the fork and the line above
            os._exit(1)

    return in_the_child
