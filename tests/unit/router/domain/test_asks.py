"""What a caller asks for, and what makes it a background call."""

import pytest

from router.domain.asks import Asks, Ticket, with_priority

ASKS = Asks(ticket=Ticket("drill", "account"))


@pytest.mark.parametrize(("priority", "is_background"), [(-3, False), (0, False), (1, True), (5, True)])
def test_whatever_goes_after_those_who_wait_is_background(priority: int, is_background: bool) -> None:
    assert Asks(ticket=Ticket(priority=priority)).is_background is is_background


def test_a_request_s_own_priority_stands_above_what_was_asked() -> None:
    assert with_priority(ASKS, 2) == Asks(ticket=Ticket("drill", "account", 2))
    batch = Asks(ticket=Ticket(priority=3))
    assert with_priority(batch, 0) is batch
