"""The breakers of all replicas, as this router has seen them fail."""

from collections.abc import Iterable, Set

from router.domain.breaker import CLOSED, Breaker, Outcome, Position, Rule, after, may_pass, passing
from router.domain.fleet import Replica, ReplicaId
from router.tally import Tally

_NONE: frozenset[ReplicaId] = frozenset()


class Breakers:
    """Keeps only what is not simply closed, so that a healthy fleet costs nothing."""

    def __init__(self, *, rule: Rule, tally: Tally) -> None:
        self._rule = rule
        self._tally = tally
        self._troubled: dict[ReplicaId, Breaker] = {}
        self._lives: dict[ReplicaId, int] = {}

    def saw_fleet(self, replicas: Iterable[Replica]) -> None:
        """A replica that was lost and has proved itself since starts anew; nothing is kept of those that are gone."""
        lives = {replica.id: replica.lives for replica in replicas}
        for replica in tuple(self._troubled):
            if lives.get(replica) != self._lives.get(replica):
                del self._troubled[replica]
        self._lives = lives

    def blocked(self, now: float) -> Set[ReplicaId]:
        """The replicas to which no request may go now."""
        if not self._troubled:
            return _NONE
        return {replica for replica, breaker in self._troubled.items() if not may_pass(breaker, now=now)}

    def enter(self, replica: ReplicaId) -> bool:
        """A request goes there; whether it is the one that tries an open breaker, whose outcome must be told."""
        breaker = self._troubled.get(replica)
        if breaker is None or breaker.position is not Position.OPEN:
            return False
        self._troubled[replica] = passing(breaker)
        return True

    def saw(self, replica: ReplicaId, outcome: Outcome, *, is_trial: bool, now: float) -> None:
        breaker = self._troubled.get(replica, CLOSED)
        if breaker is CLOSED and outcome is not Outcome.FAILURE:
            return
        if breaker.position is Position.HALF_OPEN and not is_trial:
            return
        then = after(breaker, outcome, rule=self._rule, now=now)
        if then == CLOSED:
            self._troubled.pop(replica, None)
        else:
            self._troubled[replica] = then
        if then.position is Position.OPEN and breaker.position is Position.CLOSED:
            self._tally.breaker_opened[replica] += 1

    def open(self) -> frozenset[ReplicaId]:
        return frozenset(
            replica for replica, breaker in self._troubled.items() if breaker.position is not Position.CLOSED
        )
