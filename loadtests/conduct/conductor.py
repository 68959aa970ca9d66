"""Plays one load drill from its beginning to its verdict."""

from collections.abc import Callable

from loadtests.conduct.order import Order, Outcome


def conduct(order: Order, *, say: Callable[[str], None]) -> Outcome:
    """Play the drill, keep what was measured, and judge it; raises `DrillFailed` when it could not be played."""
    raise NotImplementedError
