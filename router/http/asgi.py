"""What of ASGI is spoken here, as types."""

from collections.abc import Awaitable, Callable, Mapping
from typing import NotRequired, Protocol, TypedDict

CLIENT = "drillyard.client"
"""The extension under which our own server offers a `Client`."""


class Client(Protocol):
    """Who waits at the other end of the connection."""

    def when_lost(self, act: Callable[[], None] | None) -> None:
        """Call it as soon as the client goes, at once if it has gone already; None: no longer."""

    def send_now(self, data: bytes) -> bool:
        """A piece of the body of the stream that has begun; False: it cannot be sent without waiting, and was not."""

    def abort(self) -> None:
        """Cut the connection, whatever has not been sent yet."""


class Scope(TypedDict):
    """A request, or with another `type` something else."""

    type: str
    method: str
    path: str
    raw_path: bytes
    query_string: bytes
    headers: list[tuple[bytes, bytes]]
    extensions: NotRequired[Mapping[str, Client]]


class Message(TypedDict, total=False):
    """An event of either direction; which fields it has depends on its `type`."""

    type: str
    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes
    more_body: bool


Headers = Mapping[bytes, bytes]
"""By lower-case name; of one that came twice, the last."""

Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
