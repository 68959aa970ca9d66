"""What a failure is told as, and what of it is not."""

import pytest
from structlog.testing import capture_logs

from router.domain.failover import Why
from router.domain.fleet import ReplicaId
from router.errors import (
    EngineBroke,
    EngineConnectLate,
    EngineError,
    EngineRejected,
    EngineTimedOut,
    EngineUnreachable,
)
from router.setback import last_word, report
from tests.support.router_house import FakeFleet

A = ReplicaId("a")


@pytest.mark.parametrize(
    ("error", "failures", "late"),
    [
        (EngineUnreachable(A, "refused"), [A], []),
        (EngineConnectLate(A, "not in time"), [], [A]),
        (EngineBroke(A, "cut off"), [], []),
        (EngineTimedOut(A, "silent"), [], []),
    ],
)
def test_the_fleet_hears_of_a_replica_that_cannot_be_reached(
    error: EngineError, failures: list[ReplicaId], late: list[ReplicaId]
) -> None:
    fleet = FakeFleet(())
    assert report(fleet, A, error) == error.detail
    assert (fleet.failures, fleet.late) == (failures, late)


def test_what_a_rejection_quotes_reaches_neither_log_nor_record() -> None:
    with capture_logs() as lines:
        assert report(FakeFleet(()), A, EngineRejected(A, "'my secret' is too long")) == ""
    assert [(line["error"], line["detail"]) for line in lines] == [("EngineRejected", "")]


def test_long_words_are_cut() -> None:
    assert report(FakeFleet(()), A, EngineBroke(A, "x" * 10_000)) == "x" * 200


@pytest.mark.parametrize(
    ("why", "has_begun", "expected"),
    [
        (Why.WRONG_REQUEST, False, EngineRejected),
        (Why.WRONG_REQUEST, True, EngineBroke),
        (Why.NO_TIME, True, EngineRejected),
    ],
)
def test_a_caller_is_not_told_that_our_call_for_the_rest_was_wrong(
    why: Why, has_begun: bool, expected: type[EngineError]
) -> None:
    assert type(last_word(EngineRejected(A, "wrong"), why, has_begun=has_begun)) is expected
