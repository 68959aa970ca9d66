"""Many replicas from one command: a process each, made by forking one that has everything imported already.

Two hundred of them so take seconds to start instead of minutes, and share the memory of what never changes. They end
when the command is told to, and also when it is killed.
"""

import ctypes
import gc
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_PR_SET_PDEATHSIG = 1
_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_CRASHED = 70


@dataclass(frozen=True, slots=True)
class Member:
    pid: int
    port: int


@dataclass(frozen=True, slots=True)
class Ended:
    member: Member
    status: int
    """As `os.waitstatus_to_exitcode` has it: below 0 for a signal."""


class Fleet:
    """Must be used by a process with a single thread and no event loop, for it forks."""

    def __init__(self, serve: Callable[[int], int]) -> None:
        self._serve = serve
        self._members: dict[int, Member] = {}

    def launch(self, port: int) -> Member:
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            self._live(port, parent=parent)
        member = Member(pid, port)
        self._members[pid] = member
        return member

    def freeze(self) -> None:
        """Call it before the first launch: what is there now is never touched again, so all processes can share it."""
        gc.collect()
        gc.freeze()

    def outlive(self) -> Iterator[Ended]:
        """Tell of each replica that ends, until none is left; a signal to end goes on to all of them."""
        for number in _SIGNALS:
            signal.signal(number, lambda received, _: self._pass_on(received))
        while self._members:
            pid, status = os.wait()
            yield Ended(self._members.pop(pid), os.waitstatus_to_exitcode(status))

    def _pass_on(self, number: int) -> None:
        for pid in tuple(self._members):
            # A child that has ended stays known until it is waited for, so no other process can have its number.
            os.kill(pid, number)

    def _live(self, port: int, *, parent: int) -> None:
        """Never returns: whatever happens, the child must not run on into the parent's code."""
        status = _CRASHED
        try:
            _end_with(parent)
            status = self._serve(port)
        finally:
            os._exit(status)


def _end_with(parent: int) -> None:
    """Have the kernel end this process when its parent dies, be it by SIGKILL."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os._exit(_CRASHED)
