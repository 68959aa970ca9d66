"""The way of ordinary events of a stream past the turn that waits for them."""

from collections.abc import Callable

from router.domain.relay import Relay


class ShortCut:
    """Called with what a replica sends while its turn waits; whether that has gone to the caller.

    `give` sends at once, or refuses and sends nothing. Whatever is not ordinary, or cannot be sent now, is left to the
    turn, which wakes up and reads it.
    """

    __slots__ = ("_give", "_relay")

    def __init__(self, relay: Relay, give: Callable[[bytes], bool]) -> None:
        self._relay = relay
        self._give = give

    def __call__(self, data: bytes) -> bool:
        relay = self._relay
        if not relay.is_ordinary(data) or not self._give(data):
            return False
        relay.passed(data)
        return True
