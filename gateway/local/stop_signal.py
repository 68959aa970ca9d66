"""Ctrl-C and SIGTERM as facts that are looked at, so that a signal never cuts through the middle of a start.

The first asks to stop and the second to stop at once. Only inside `interrupting()`, around work of our own that
cannot look up (a request, the seed), does the signal break in as an exception.
"""

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Self

from gateway.local.errors import StopAsked

_WATCHED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopSignal:
    def __init__(self) -> None:
        self._times = 0
        self._breaks_in = False
        self._before: Mapping[signal.Signals, object] = {}

    def __enter__(self) -> Self:
        # A hang-up that is ignored already (nohup) stays ignored.
        wanted = [one for one in _WATCHED if one is not signal.SIGHUP or signal.getsignal(one) != signal.SIG_IGN]
        self._before = {one: signal.signal(one, self._received) for one in wanted}
        return self

    def __exit__(self, *_: object) -> None:
        for one, handler in self._before.items():
            signal.signal(one, handler if callable(handler) else signal.SIG_DFL)

    @property
    def asked(self) -> bool:
        return self._times > 0

    def at_once(self) -> bool:
        return self._times > 1

    def check(self) -> None:
        if self.asked:
            raise StopAsked

    @contextmanager
    def interrupting(self) -> Iterator[None]:
        self.check()
        self._breaks_in = True
        try:
            yield
        finally:
            self._breaks_in = False

    def _received(self, _signal: int, _frame: FrameType | None) -> None:
        self._times += 1
        if self._breaks_in:
            self._breaks_in = False  # once: the clean-up that follows must not be broken into again
            raise StopAsked
