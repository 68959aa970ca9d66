"""Which model serves which work, as a table."""

from collections.abc import Collection, Mapping

import pytest

from sessions.domain.tiers import Chosen, NoPool, Offer, Tier, Wish, WishSource, candidates, choose, offer_of, wish

PLAY, FAQ, SUMMARY, SENSITIVE = Tier.ROLE_PLAY, Tier.FAQ, Tier.SUMMARY, Tier.SENSITIVE
MODELS = ("a", "b", "c")
PLAIN = Offer("a", MODELS)
SET = Offer("a", MODELS, tiers={PLAY: "b"}, fallbacks={PLAY: ("c",), FAQ: (), SENSITIVE: ()})
LENIENT = Offer("a", MODELS, fallbacks={SENSITIVE: ("c",)})


@pytest.mark.parametrize(
    ("scenario", "tenant", "offer", "expected"),
    [
        ({}, {}, PLAIN, Wish("a", WishSource.DEFAULT)),
        ({}, {}, SET, Wish("b", WishSource.INSTALLATION)),
        ({}, {PLAY: "c"}, SET, Wish("c", WishSource.TENANT)),
        ({PLAY: "a"}, {PLAY: "c"}, SET, Wish("a", WishSource.SCENARIO)),
        ({FAQ: "c"}, {SUMMARY: "c"}, PLAIN, Wish("a", WishSource.DEFAULT)),
        ({PLAY: "gone"}, {}, SET, Wish("gone", WishSource.SCENARIO)),
    ],
)
def test_the_scenario_is_heard_before_the_tenant_and_the_tenant_before_the_installation(
    scenario: Mapping[Tier, str], tenant: Mapping[Tier, str], offer: Offer, expected: Wish
) -> None:
    assert wish(PLAY, scenario, tenant, offer) == expected


@pytest.mark.parametrize(
    ("tier", "model", "offer", "present", "expected"),
    [
        # the wanted pool is there, whatever else is
        (PLAY, "b", PLAIN, {"b"}, Chosen(PLAY, "b")),
        (PLAY, "b", SET, {"a", "b", "c"}, Chosen(PLAY, "b")),
        # nobody can tell: then nothing is known to be away
        (PLAY, "b", SET, None, Chosen(PLAY, "b")),
        (SENSITIVE, "b", SET, None, Chosen(SENSITIVE, "b")),
        # it is away: the tier's fallbacks in their order, the default model at last
        (PLAY, "b", SET, {"a", "c"}, Chosen(PLAY, "c", fell_back=True)),
        (PLAY, "b", SET, {"a"}, Chosen(PLAY, "a", fell_back=True)),
        (SUMMARY, "b", SET, {"a", "c"}, Chosen(SUMMARY, "a", fell_back=True)),
        (SUMMARY, "b", PLAIN, {"a"}, Chosen(SUMMARY, "a", fell_back=True)),
        # nobody is there: the wanted one is asked, and the router says what it lacks
        (PLAY, "b", SET, set(), Chosen(PLAY, "b")),
        (PLAY, "a", PLAIN, set(), Chosen(PLAY, "a")),
        # sensitive work, and a tier whose fallbacks are none, never leave their pool
        (SENSITIVE, "b", PLAIN, {"a", "c"}, NoPool(SENSITIVE, "b")),
        (SENSITIVE, "b", SET, {"a", "c"}, NoPool(SENSITIVE, "b")),
        (FAQ, "b", SET, {"a", "c"}, NoPool(FAQ, "b")),
        (SENSITIVE, "a", PLAIN, set(), NoPool(SENSITIVE, "a")),
        # but where the installation names a pool that may serve sensitive work: it, and no other
        (SENSITIVE, "b", LENIENT, {"a", "c"}, Chosen(SENSITIVE, "c", fell_back=True)),
        (SENSITIVE, "b", LENIENT, {"a"}, Chosen(SENSITIVE, "b")),
        # a model that the installation no longer has is a pool that is away for good
        (PLAY, "gone", SET, {"a", "c", "gone"}, Chosen(PLAY, "c", fell_back=True)),
        (PLAY, "gone", PLAIN, set(), Chosen(PLAY, "a", fell_back=True)),
        (PLAY, "gone", PLAIN, None, Chosen(PLAY, "a", fell_back=True)),
        (SENSITIVE, "gone", PLAIN, {"a", "gone"}, NoPool(SENSITIVE, "gone")),
        (SENSITIVE, "gone", LENIENT, set(), Chosen(SENSITIVE, "c", fell_back=True)),
    ],
)
def test_the_pool_that_serves_a_tier_now(
    tier: Tier, model: str, offer: Offer, present: Collection[str] | None, expected: Chosen | NoPool
) -> None:
    assert choose(tier, Wish(model, WishSource.SCENARIO), offer, present) == expected


def test_work_that_may_go_nowhere_else_stays_with_a_pool_that_is_being_emptied() -> None:
    b, gone = Wish("b", WishSource.SCENARIO), Wish("gone", WishSource.SCENARIO)
    assert choose(SENSITIVE, b, PLAIN, {"a"}, leaving={"b"}) == Chosen(SENSITIVE, "b")
    assert choose(SENSITIVE, b, PLAIN, {"a"}, leaving={"c"}) == NoPool(SENSITIVE, "b")
    assert choose(SENSITIVE, gone, PLAIN, {"a"}, leaving={"gone"}) == NoPool(SENSITIVE, "gone")
    assert choose(PLAY, b, PLAIN, {"a"}, leaving={"b"}) == Chosen(PLAY, "a", fell_back=True)


@pytest.mark.parametrize("tier", Tier)
@pytest.mark.parametrize("offer", [PLAIN, SET, LENIENT])
@pytest.mark.parametrize("model", [*MODELS, "gone"])
@pytest.mark.parametrize("present", [None, set(), {"a"}, {"b"}, {"c"}, {"b", "c"}])
def test_whatever_is_chosen_is_served_and_one_of_the_candidates(
    tier: Tier, offer: Offer, model: str, present: Collection[str] | None
) -> None:
    wanted = Wish(model, WishSource.TENANT)
    found = choose(tier, wanted, offer, present)
    if isinstance(found, NoPool):
        assert not offer.stand_ins(tier)
        return
    assert found.model in offer.models
    assert found.model in candidates(tier, wanted, offer)
    assert found.fell_back is (found.model != model)


def test_candidates_are_the_wanted_model_and_whoever_may_stand_in() -> None:
    assert candidates(PLAY, Wish("b", WishSource.TENANT), SET) == ("b", "c", "a")
    assert candidates(PLAY, Wish("a", WishSource.DEFAULT), PLAIN) == ("a",)
    assert candidates(SENSITIVE, Wish("b", WishSource.SCENARIO), SET) == ("b",)
    assert candidates(SENSITIVE, Wish("gone", WishSource.SCENARIO), SET) == ()


def test_a_fallback_may_be_a_tier_and_stands_for_its_model() -> None:
    offer = offer_of("a", MODELS, {SUMMARY: "c"}, {PLAY: ("summary", "faq", "c", "b")})
    assert offer.fallbacks == {PLAY: ("c", "a", "b")}
    assert offer.stand_ins(PLAY) == ("c", "a", "b")
    assert offer.stand_ins(FAQ) == ("a",)


def test_a_model_that_is_called_like_a_tier_is_the_model() -> None:
    assert offer_of("a", ("a", "faq"), {FAQ: "a"}, {PLAY: ("faq",)}).fallbacks == {PLAY: ("faq",)}
