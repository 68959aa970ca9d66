"""Which failures another replica may mend."""

import pytest

from router.domain.failover import may_go_elsewhere
from router.errors import EngineBroke, EngineBusy, EngineError, EngineRejected, EngineTimedOut, EngineUnreachable


@pytest.mark.parametrize("kind", [EngineUnreachable, EngineTimedOut, EngineBusy, EngineBroke])
def test_what_the_replica_is_to_blame_for_may_be_mended_elsewhere(kind: type[EngineError]) -> None:
    assert may_go_elsewhere(kind("a", "gone"), failed=1, most=2)


def test_what_the_request_is_to_blame_for_may_not() -> None:
    assert not may_go_elsewhere(EngineRejected("a", "too long"), failed=1, most=5)


def test_the_last_attempt_is_the_last() -> None:
    error = EngineBusy("a", "full")
    assert [may_go_elsewhere(error, failed=failed, most=3) for failed in (1, 2, 3)] == [True, True, False]
