"""Ends the controller at any port it asks, before the deed or after it; and lets ports fail now and then."""

from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import Any, TypeVar, cast

from router.fleet.errors import FleetError

_Port = TypeVar("_Port")


class ControllerKilled(BaseException):
    """Nothing in the controller may catch it, as nothing catches a SIGKILL."""


class _Mortal:
    def __init__(self, port: object, *, dies: Callable[[], bool], fails: Callable[[str], FleetError | None]) -> None:
        self._port = port
        self._dies = dies
        self._fails = fails

    def __getattr__(self, name: str) -> Any:
        inner = getattr(self._port, name)
        if not iscoroutinefunction(inner):
            return inner

        async def asked(*args: object, **kwargs: object) -> object:
            error = self._fails(name)
            if error is not None:
                raise error
            if self._dies():
                raise ControllerKilled
            answer = await inner(*args, **kwargs)
            if self._dies():
                raise ControllerKilled
            return answer

        return asked


def mortal(
    port: _Port, *, dies: Callable[[], bool], fails: Callable[[str], FleetError | None] = lambda _: None
) -> _Port:
    """The port, with the risk of asking it. `fails` is told which method is asked."""
    return cast("_Port", _Mortal(port, dies=dies, fails=fails))
