"""Makes this process the parent of its children's orphans, so that none can slip away unseen."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from gateway.local import process_table
from gateway.local.process import LIBC, POLL_S

_PR_SET_CHILD_SUBREAPER = 36
_PATIENCE_S = 5.0


@contextmanager
def adopting_orphans() -> Iterator[None]:
    """Inside, orphaned descendants become our children; at the end whoever came since is killed and reaped."""
    before = frozenset(one.pid for one in _ours())
    LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        _end_all_but(before)
        LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def reap_orphans(known: frozenset[int]) -> None:
    """Collect adopted children that have ended; `known` ones have somebody else waiting for them."""
    for one in _ours():
        if one.zombie and one.pid not in known:
            _reap(one.pid)


def _end_all_but(before: frozenset[int]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while (left := [one for one in _ours() if one.pid not in before]) and time.monotonic() < deadline:
        for one in left:
            with suppress(ProcessLookupError):
                os.kill(one.pid, signal.SIGKILL)
            _reap(one.pid)
        time.sleep(POLL_S)


def _ours() -> list[process_table.Entry]:
    return [one for one in process_table.everyone() if one.parent == os.getpid()]


def _reap(pid: int) -> None:
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
