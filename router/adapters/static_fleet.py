"""A fleet whose replicas are named in the settings; only their health changes."""

from collections.abc import Sequence
from dataclasses import replace

import structlog
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from router.domain.fleet import Fleet, Replica, ReplicaId
from router.domain.health import Observation, after
from router.ports import FleetSource

_log: FilteringBoundLogger = structlog.get_logger(__name__)


class StaticFleet(FleetSource):
    """Whoever observes the replicas tells it."""

    def __init__(self, *, replicas: Sequence[Replica]) -> None:
        self._fleet = Fleet(tuple(replicas))

    @override
    def current(self) -> Fleet:
        return self._fleet

    @override
    def saw_failure(self, replica: ReplicaId, detail: str) -> None:
        self.observe(replica, Observation.TURN_LOST, detail)

    def observe(self, replica: ReplicaId, observation: Observation, detail: str = "") -> None:
        """Take one observation; what is seen of a replica that is not ours is nothing."""
        known = self._fleet.get(replica)
        if known is None:
            return
        seen = _with_health(known, observation, detail)
        # Logged at a change only: a probe that fails every two seconds must not fill the log.
        if seen == known:
            return
        self._fleet = Fleet(tuple(seen if other is known else other for other in self._fleet.replicas))
        if seen.health is not known.health:
            _log.info(
                "replica health changed", replica=replica, before=known.health, now=seen.health, reason=seen.reason
            )


def _with_health(replica: Replica, observation: Observation, detail: str) -> Replica:
    health = after(replica.health, observation)
    silent = observation is Observation.PROBE_PASSED
    return replace(replica, health=health, reason=replica.reason if silent else detail)
