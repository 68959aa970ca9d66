"""How a tier's state is shown."""

import pytest

from gateway.api.tier_views import TierView
from gateway.model_tiers import TierState
from sessions.domain.tiers import Chosen, NoPool, Tier, Wish, WishSource

WISH = Wish("large", WishSource.TENANT)


@pytest.mark.parametrize(
    ("serves", "shown"),
    [
        (Chosen(Tier.FAQ, "large"), ("large", False)),
        (Chosen(Tier.FAQ, "small", fell_back=True), ("small", True)),
        (NoPool(Tier.FAQ, "large"), (None, False)),
    ],
)
def test_what_serves_now_stands_beside_what_was_chosen(serves: Chosen | NoPool, shown: tuple[str | None, bool]) -> None:
    view = TierView.of(TierState(Tier.FAQ, WISH, is_present=False, fallbacks=("small",), serves=serves))
    assert (view.tier, view.model, view.source, view.ready) == ("faq", "large", "tenant", False)
    assert (view.serves, view.fell_back) == shown
    assert view.fallbacks == ("small",)
