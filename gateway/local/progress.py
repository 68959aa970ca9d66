"""Tells a person what is being done: a moving line in a terminal, plain lines now and then elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from gateway.local.log_tail import end_of, last_line

_PLAIN_EVERY_S = 15.0
_REDRAW_EVERY_S = 0.1
_WIDEST = 70


@dataclass(frozen=True, slots=True)
class _Tail:
    """A log from the place on where it is about this step."""

    log: Path
    since: int

    @property
    def last_line(self) -> str:
        return last_line(self.log, since=self.since)


class Progress:
    def __init__(self, *, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock

    def note(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    @contextmanager
    def step(self, what: str, *, log: Path | None = None, since: int | None = None) -> Iterator[Callable[[], None]]:
        """Announce a step; call what it yields often while waiting. The last line of `log` shows that it moves.

        What stands there already is an earlier run's, unless `since` says where this one began.
        """
        began = self._clock()
        tail = None if log is None else _Tail(log, end_of(log) if since is None else since)
        if self._console.is_terminal:
            with self._moving(what, tail, began) as tick:
                yield tick
        else:
            self.note(f"{what} …")
            yield self._plain(what, tail, began)
        self.note(f"{what}: done in {self._clock() - began:.1f} s")

    @contextmanager
    def _moving(self, what: str, tail: _Tail | None, began: float) -> Iterator[Callable[[], None]]:
        # Drawn by our own calls alone: rich's refreshing thread would be alive while children are forked.
        spinner = Spinner("dots", what)
        drawn = began

        def tick() -> None:
            nonlocal drawn
            now = self._clock()
            if now - drawn >= _REDRAW_EVERY_S:
                drawn = now
                spinner.update(text=Text(_line(what, tail, now - began), overflow="ellipsis", no_wrap=True))
                live.refresh()

        with Live(spinner, console=self._console, auto_refresh=False, transient=True) as live:
            yield tick

    def _plain(self, what: str, tail: _Tail | None, began: float) -> Callable[[], None]:
        said = began

        def tick() -> None:
            nonlocal said
            now = self._clock()
            if now - said >= _PLAIN_EVERY_S:
                said = now
                self.note(_line(f"  still {what}", tail, now - began))

        return tick


def _line(what: str, tail: _Tail | None, passed_s: float) -> str:
    detail = tail.last_line[:_WIDEST] if tail is not None else ""
    return f"{what} ({passed_s:.0f} s)" + (f" – {detail}" if detail else "")
