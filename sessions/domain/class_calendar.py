"""The classes of all tenants, as whoever keeps replicas ready for them sees them."""

from collections.abc import Mapping
from dataclasses import dataclass

from sessions.domain.drill import Drill
from sessions.domain.tiers import Offer, Tier, candidates, wish


@dataclass(frozen=True, slots=True)
class Wishes:
    """What is asked for the tutor of a class."""

    tier: Tier
    """The kind of work that its turns are."""
    scenario: Mapping[Tier, str]
    tenant: Mapping[Tier, str]

    def model(self, offer: Offer) -> str:
        """The model that serves it while every pool is there. One that nothing served here may stand in for is named
        all the same: then it is a pool that is away.
        """
        asked = wish(self.tier, self.scenario, self.tenant, offer)
        possible = candidates(self.tier, asked, offer)
        return possible[0] if possible else asked.model


@dataclass(frozen=True, slots=True)
class TimedClass:
    drill: Drill
    wishes: Wishes
