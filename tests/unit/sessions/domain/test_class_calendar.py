"""Which pool a class is booked at."""

import pytest

from sessions.domain.class_calendar import Wishes
from sessions.domain.tiers import Offer, Tier

OFFER = Offer("large", ("large", "small"), {Tier.SENSITIVE: "small"})


@pytest.mark.parametrize(
    ("tier", "scenario", "tenant", "model"),
    [
        (Tier.ROLE_PLAY, {}, {}, "large"),
        (Tier.ROLE_PLAY, {}, {Tier.ROLE_PLAY: "small"}, "small"),
        (Tier.ROLE_PLAY, {Tier.ROLE_PLAY: "large"}, {Tier.ROLE_PLAY: "small"}, "large"),
        (Tier.ROLE_PLAY, {Tier.SCORING: "small"}, {}, "large"),
        (Tier.SENSITIVE, {Tier.ROLE_PLAY: "large"}, {}, "small"),
        # One that is no longer served is stood in for, unless the work may go nowhere else.
        (Tier.ROLE_PLAY, {Tier.ROLE_PLAY: "gone"}, {}, "large"),
        (Tier.SENSITIVE, {Tier.SENSITIVE: "gone"}, {}, "gone"),
    ],
)
def test_a_class_is_booked_where_its_turns_go(
    tier: Tier, scenario: dict[Tier, str], tenant: dict[Tier, str], model: str
) -> None:
    assert Wishes(tier, scenario, tenant).model(OFFER) == model
