"""Events that wait for the first word of their answer."""

import pytest

from router.domain.untold import MAX_UNTOLD_BYTES, Untold
from router.errors import StreamBroken


def test_what_waited_is_taken_in_order_and_once() -> None:
    untold = Untold()
    assert untold.taken() == b""
    untold.add(b"one")
    untold.add(b"two")
    assert (untold.taken(), untold.taken()) == (b"onetwo", b"")


def test_an_engine_that_says_nothing_at_length_is_broken() -> None:
    untold = Untold()
    untold.add(bytes(MAX_UNTOLD_BYTES))
    with pytest.raises(StreamBroken, match="says nothing"):
        untold.add(b"x")
