"""Which replicas have said nothing, or were not listed, for too long to be believed alive."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from router.domain.fleet import ReplicaId


@dataclass(frozen=True, slots=True)
class Silence:
    """Since when each replica has failed its canaries, or has not been listed."""

    since: Mapping[ReplicaId, float] = field(default_factory=dict)

    def after(self, answers: Mapping[ReplicaId, bool | None], *, now: float) -> "Silence":
        """`answers`: whether each replica generated its last canary, or was listed; None: not known yet."""
        return Silence(
            {
                replica: self.since.get(replica, now)
                for replica, answer in answers.items()
                if answer is False or (answer is None and replica in self.since)
            }
        )

    def mute(
        self, answers: Mapping[ReplicaId, bool | None], *, dead_after_s: float, now: float
    ) -> frozenset[ReplicaId]:
        """Those to be given up. When several serve and none of them answers, it is the asker who cannot be heard."""
        if len(answers) > 1 and not any(answers.values()):
            return frozenset()
        return self.lasting(dead_after_s, now=now)

    def lasting(self, seconds: float, *, now: float) -> frozenset[ReplicaId]:
        return frozenset(replica for replica, since in self.since.items() if now - since >= seconds)
