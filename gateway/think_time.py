"""The think time of trainees: what is done for a session between two turns, while nobody waits for it.

Each session has one thing done at a time, and the process a bounded number; a turn that begins meanwhile is neither
stopped nor delayed.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from types import TracebackType
from typing import Final, Self

import structlog
from structlog.typing import FilteringBoundLogger

from sessions.domain.session import SessionId
from sessions.domain.viewer import Viewer
from sessions.errors import SessionsError

_MOST_WAITING: Final = 1024
"""A session that finds no place here has its next chance after its next turn."""

_log: FilteringBoundLogger = structlog.get_logger(__name__)


class ThinkTime:
    """Use as an async context manager: leaving it cuts off what still goes on.

    `think` is what there is to do for a session; `failed` hears of each time that it could not.
    """

    def __init__(
        self,
        *,
        think: Callable[[Viewer, SessionId], Awaitable[None]],
        at_once: int,
        failed: Callable[[], None],
    ) -> None:
        self._think = think
        self._at_once = at_once
        self._failed = failed
        self._tasks = asyncio.TaskGroup()
        self._is_open = False
        self._running: dict[SessionId, asyncio.Task[None]] = {}
        self._waiting: dict[SessionId, Viewer] = {}
        self.skipped = 0

    @property
    def count(self) -> int:
        """How many sessions are thought of now, or wait for it."""
        return len(self._running.keys() | self._waiting.keys())

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        self._is_open = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._is_open = False
        self._waiting.clear()
        for task in self._running.values():
            task.cancel()
        await self._tasks.__aexit__(kind, error, traceback)

    def begin(self, viewer: Viewer, session: SessionId) -> None:
        """Think of this session as soon as there is a place; again, if it is being thought of already."""
        if not self._is_open:
            return
        if session not in self._waiting and len(self._waiting) >= _MOST_WAITING:
            self.skipped += 1
            return
        self._waiting[session] = viewer
        self._start_next()

    def _start_next(self) -> None:
        for session in [one for one in self._waiting if one not in self._running]:
            if len(self._running) >= self._at_once:
                return
            task = self._tasks.create_task(self._thought(self._waiting.pop(session), session))
            self._running[session] = task
            task.add_done_callback(partial(self._ended, session))

    def _ended(self, session: SessionId, _: asyncio.Task[None]) -> None:
        # Here and not in the task, which is never begun when it is cancelled at once.
        del self._running[session]
        if self._is_open:
            self._start_next()

    async def _thought(self, viewer: Viewer, session: SessionId) -> None:
        try:
            await self._think(viewer, session)
        except SessionsError as error:
            _log.info("nothing came of a think time", session=str(session), reason=type(error).__name__)
            self._failed()
        except Exception:  # noqa: BLE001  one session's fault must not end the group that thinks of all others
            _log.exception("a think time ended by a fault", session=str(session))
            self._failed()
