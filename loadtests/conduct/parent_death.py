"""Lets a process that we start end when we do, however that comes about."""

import ctypes
import os
import signal
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)
"""Found before a child is there: between fork and exec nothing may be loaded."""


def ending_with(parent: int) -> Callable[[], None]:
    """What the child calls before it becomes its program; it is told to end once the thread that started it is gone."""

    def in_the_child() -> None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
        if os.getppid() != parent:  # it was gone before this was set
            os._exit(1)

    return in_the_child
