"""Numbers as they were at one moment."""

from router.domain.fleet import ReplicaId
from router.domain.pin import PinDecision
from router.tally import MoveReason, PrewarmOutcome, RouterNumbers, Takeover, Tally

A = ReplicaId("a")


def test_a_router_that_has_done_nothing_has_only_zeros() -> None:
    assert Tally().numbers() == RouterNumbers()


def test_the_numbers_do_not_change_with_the_tally() -> None:
    tally = Tally()
    tally.took(PinDecision.NEW, is_background=False)
    tally.took(PinDecision.KEPT, is_background=True)
    tally.attempts[A, "completed"] += 1
    tally.takeovers[Takeover.CONTINUED] += 1
    tally.moves[MoveReason.REPLICA_LOST] += 1
    tally.breaker_opened[A] += 1
    tally.prewarmed(PrewarmOutcome.DONE)
    tally.canary(A, "passed")
    tally.retries = tally.waited = tally.no_room = tally.no_replica = tally.unpinned = tally.budget_exhausted = 1
    numbers, copy = tally.numbers(), tally.numbers()
    tally.turns[PinDecision.NEW] += 1
    tally.canary(A, "passed")
    assert numbers == copy
    assert (numbers.turns, numbers.background) == ({PinDecision.NEW: 1}, 1)
    assert numbers.canaries == {(A, "passed"): 1}
    assert numbers.prewarms == {PrewarmOutcome.DONE: 1}
