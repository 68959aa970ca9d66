"""The model that is chosen comes with its own writer."""

from sessions.domain.tiers import Chosen, Tier
from sessions.use_cases.served_models import ServedModels
from tests.support.session_fakes import FakeTiers, content, viewer, writers


async def test_the_writer_is_that_of_the_chosen_model() -> None:
    by_model = writers("large", "small")
    tiers = FakeTiers(("large", "small"))
    models = ServedModels(tiers=tiers, writers=by_model)
    tenant, wishes = viewer().tenant, content(tiers=((Tier.SUMMARY, "small"),))
    assert await models.choose(Tier.ROLE_PLAY, tenant, wishes) == (Chosen(Tier.ROLE_PLAY, "large"), by_model["large"])
    assert await models.choose(Tier.SUMMARY, tenant, wishes) == (Chosen(Tier.SUMMARY, "small"), by_model["small"])
    tiers.away.add("small")
    fallen, writer = await models.choose(Tier.SUMMARY, tenant, wishes)
    assert (fallen.model, fallen.fell_back, writer) == ("large", True, by_model["large"])


async def test_all_work_of_a_sensitive_scenario_is_sensitive_work() -> None:
    models = ServedModels(tiers=FakeTiers(("large", "small")), writers=writers("large", "small"))
    secret = content(is_sensitive=True, tiers=((Tier.SENSITIVE, "small"), (Tier.SUMMARY, "large")))
    for work in (Tier.ROLE_PLAY, Tier.SUMMARY):
        chosen, _ = await models.choose(work, viewer().tenant, secret)
        assert (chosen.tier, chosen.model) == (Tier.SENSITIVE, "small")


async def test_a_model_that_was_asked_in_vain_is_passed_over() -> None:
    models = ServedModels(tiers=FakeTiers(("large", "small")), writers=writers("large", "small"))
    wishes = content(tiers=((Tier.ROLE_PLAY, "small"),))
    chosen, _ = await models.choose(Tier.ROLE_PLAY, viewer().tenant, wishes, lost=("small",))
    assert (chosen.model, chosen.fell_back) == ("large", True)
