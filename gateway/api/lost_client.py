"""Noticing that the client has gone."""

from starlette.types import Receive


class ClientGone(Exception):
    """The client closed the connection before it was answered."""


async def until_gone(receive: Receive) -> None:
    """Return once the client has closed the connection; what it still sends is of no interest."""
    while (await receive())["type"] != "http.disconnect":
        pass
