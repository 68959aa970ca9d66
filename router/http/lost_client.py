"""Noticing at any moment that a client has gone, so that nothing is generated for nobody.

Our own server says so by a call, which costs next to nothing; before another one a second task waits for the
disconnect. A client that stays and does not read is cut off.
"""

import asyncio
from collections.abc import Awaitable

from router.http.asgi import CLIENT, Client, Receive, Scope

UNREAD_S = 30.0
"""A client that takes nothing for one to two times as long while there is something for it is given up."""


class Patience:
    """Watches the sending of one stream. `is_sending` and `sent` are kept by who sends."""

    __slots__ = ("_client", "_seen", "_timer", "is_sending", "sent")

    def __init__(self, client: Client | None) -> None:
        self.is_sending = False
        self.sent = 0
        self._seen = -1
        self._client = client
        self._timer: asyncio.TimerHandle | None = None
        if client is not None:
            self._arm()

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _arm(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(UNREAD_S, self._look)

    def _look(self) -> None:
        if self._client is not None and self.is_sending and self.sent == self._seen:
            return self._client.abort()
        self._seen = self.sent
        return self._arm()


class _Loss:
    """Ends the task of a request whose client has gone."""

    __slots__ = ("_task", "happened")

    def __init__(self, task: "asyncio.Task[None] | None") -> None:
        self._task = task
        self.happened = False

    def __call__(self) -> None:
        self.happened = True
        if self._task is not None:
            self._task.cancel()

    def explains_cancellation(self) -> bool:
        """Whether nobody else wanted the task to end."""
        return self.happened and self._task is not None and self._task.uncancel() == 0


def client_of(scope: Scope) -> Client | None:
    extensions = scope.get("extensions")
    return None if extensions is None else extensions.get(CLIENT)


async def while_client_stays(client: Client | None, receive: Receive, work: Awaitable[None]) -> None:
    """Do the work; when the client goes, stop it and return. The body must have been read before."""
    if client is None:
        return await _watched(receive, work)
    loss = _Loss(asyncio.current_task())
    client.when_lost(loss)
    try:
        await work
    except asyncio.CancelledError:
        if not loss.explains_cancellation():
            raise
    finally:
        client.when_lost(None)
    return None


async def _watched(receive: Receive, work: Awaitable[None]) -> None:
    loss = _Loss(asyncio.current_task())
    try:
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(_disconnected(receive, loss))
            try:
                await work
            finally:
                watching.cancel()
    except asyncio.CancelledError:
        if not loss.explains_cancellation():
            raise


async def _disconnected(receive: Receive, loss: _Loss) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    loss()
