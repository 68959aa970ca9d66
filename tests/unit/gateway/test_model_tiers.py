"""The choice of a model with a fleet that changes and tenants that change their minds."""

import asyncio
from collections.abc import Mapping
from uuid import uuid4

import pytest
from typing_extensions import override

from gateway import model_tiers
from gateway.errors import FieldInvalid
from gateway.model_tiers import ModelTiers, Pool
from router.domain.fleet import Fleet, Health, Replica, ReplicaId
from sessions.adapters.memory_tenant_tiers import MemoryTenantTiers
from sessions.domain.tiers import Chosen, NoPool, Tier, WishSource, offer_of
from sessions.domain.viewer import TenantId
from sessions.errors import PoolUnavailable, RecordsUnavailable
from tests.support.eventually import eventually

TENANT = TenantId(uuid4())
OFFER = offer_of("a", ("a", "b", "c"), {Tier.FAQ: "c"}, {Tier.ROLE_PLAY: ("c",)})
TTL_S = 5.0


class CountedTiers(MemoryTenantTiers):
    """Counts how often it is asked, can be away, and can hold back what it has read."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0
        self.away = False
        self.hold: asyncio.Event | None = None

    @override
    async def of(self, tenant: TenantId) -> Mapping[Tier, str]:
        self.asked += 1
        found = await super().of(tenant)
        if self.hold is not None:
            await self.hold.wait()
        if self.away:
            raise RecordsUnavailable("no database")
        return found


class Stage:
    def __init__(self) -> None:
        self.now = 0.0
        self.tenants = CountedTiers()
        self.fleet = fleet(a=Health.READY, b=Health.READY, c=Health.READY)
        self.tiers = ModelTiers(
            offer=OFFER,
            tenants=self.tenants,
            fleet=lambda: self.fleet,
            clock=lambda: self.now,
            ttl_s=TTL_S,
            retry_after_s=2.0,
        )


def fleet(*, draining: str = "", **pools: Health) -> Fleet:
    """A replica for each model; one of health UNKNOWN has not told what it serves."""
    return Fleet(
        tuple(
            Replica(
                ReplicaId(f"of-{model}"),
                "http://127.0.0.1:1",
                health,
                models=frozenset() if health is Health.UNKNOWN else frozenset({model}),
                is_draining=model == draining,
            )
            for model, health in pools.items()
        )
    )


@pytest.fixture
def stage() -> Stage:
    return Stage()


async def test_the_scenario_the_tenant_and_the_installation_are_heard_in_this_order(stage: Stage) -> None:
    assert await stage.tiers.choose(Tier.ROLE_PLAY, TENANT, {}) == Chosen(Tier.ROLE_PLAY, "a")
    assert await stage.tiers.choose(Tier.FAQ, TENANT, {}) == Chosen(Tier.FAQ, "c")
    await stage.tiers.change(TENANT, {Tier.ROLE_PLAY: "c", Tier.FAQ: "b"})
    assert await stage.tiers.choose(Tier.ROLE_PLAY, TENANT, {}) == Chosen(Tier.ROLE_PLAY, "c")
    assert await stage.tiers.choose(Tier.FAQ, TENANT, {}) == Chosen(Tier.FAQ, "b")
    assert await stage.tiers.choose(Tier.FAQ, TenantId(uuid4()), {}) == Chosen(Tier.FAQ, "c")
    assert await stage.tiers.choose(Tier.ROLE_PLAY, TENANT, {Tier.ROLE_PLAY: "b"}) == Chosen(Tier.ROLE_PLAY, "b")


@pytest.mark.parametrize(
    "lost", [fleet(a=Health.READY, b=Health.DOWN, c=Health.READY), fleet(draining="b", b=Health.READY, c=Health.READY)]
)
async def test_a_pool_that_takes_no_sessions_is_stood_in_for_until_it_is_back(stage: Stage, lost: Fleet) -> None:
    wanted = {Tier.ROLE_PLAY: "b"}
    stage.fleet = lost
    assert await stage.tiers.choose(Tier.ROLE_PLAY, TENANT, wanted) == Chosen(Tier.ROLE_PLAY, "c", fell_back=True)
    stage.fleet = fleet(a=Health.READY, b=Health.READY)
    assert await stage.tiers.choose(Tier.ROLE_PLAY, TENANT, wanted) == Chosen(Tier.ROLE_PLAY, "b")


async def test_sensitive_work_is_refused_rather_than_given_to_another_pool(stage: Stage) -> None:
    stage.fleet = fleet(a=Health.READY, b=Health.DOWN, c=Health.READY)
    with pytest.raises(PoolUnavailable) as caught:
        await stage.tiers.choose(Tier.SENSITIVE, TENANT, {Tier.SENSITIVE: "b"})
    assert (caught.value.tier, caught.value.model, caught.value.retry_after_s) == ("sensitive", "b", 2.0)


async def test_a_sensitive_session_stays_with_its_replica_while_that_is_drained(stage: Stage) -> None:
    wanted = {Tier.SENSITIVE: "b"}
    stage.fleet = fleet(draining="b", a=Health.READY, b=Health.READY)
    assert await stage.tiers.choose(Tier.SENSITIVE, TENANT, wanted) == Chosen(Tier.SENSITIVE, "b")
    with pytest.raises(PoolUnavailable):  # a new one, which the replica does not take
        await stage.tiers.choose(Tier.SENSITIVE, TENANT, wanted, lost=("b",))
    await stage.tiers.change(TENANT, wanted)
    state = next(state for state in await stage.tiers.table(TENANT) if state.tier is Tier.SENSITIVE)
    assert (state.is_present, state.serves) == (False, Chosen(Tier.SENSITIVE, "b"))


async def test_a_pool_that_was_just_asked_in_vain_is_away_whatever_the_fleet_still_shows(stage: Stage) -> None:
    wanted = {Tier.ROLE_PLAY: "b", Tier.SENSITIVE: "b"}
    for seen in (stage.fleet, Fleet()):
        stage.fleet = seen
        found = await stage.tiers.choose(Tier.ROLE_PLAY, TENANT, wanted, lost=("b",))
        assert found == Chosen(Tier.ROLE_PLAY, "c", fell_back=True)
        with pytest.raises(PoolUnavailable):
            await stage.tiers.choose(Tier.SENSITIVE, TENANT, wanted, lost=("b",))
    everything = await stage.tiers.choose(Tier.ROLE_PLAY, TENANT, wanted, lost=("a", "b", "c"))
    assert everything == Chosen(Tier.ROLE_PLAY, "b")


async def test_while_no_replica_tells_what_it_serves_nothing_is_known_to_be_away(stage: Stage) -> None:
    for unseen in (Fleet(), fleet(a=Health.UNKNOWN)):
        stage.fleet = unseen
        found = await stage.tiers.choose(Tier.SENSITIVE, TENANT, {Tier.SENSITIVE: "b"})
        assert found == Chosen(Tier.SENSITIVE, "b")


async def test_the_candidates_do_not_hang_on_who_is_there_now(stage: Stage) -> None:
    stage.fleet = fleet(a=Health.DOWN, b=Health.DOWN, c=Health.DOWN)
    assert await stage.tiers.candidates(Tier.ROLE_PLAY, TENANT, {Tier.ROLE_PLAY: "b"}) == ("b", "c", "a")
    assert await stage.tiers.candidates(Tier.SENSITIVE, TENANT, {Tier.SENSITIVE: "b"}) == ("b",)


async def test_a_tenants_choice_is_remembered_for_a_few_seconds(stage: Stage) -> None:
    for _ in range(3):
        await stage.tiers.choose(Tier.FAQ, TENANT, {})
    assert stage.tenants.asked == 1
    await stage.tenants.change(TENANT, {Tier.FAQ: "b"})  # in another process
    stage.now = TTL_S - 0.1
    assert (await stage.tiers.choose(Tier.FAQ, TENANT, {})).model == "c"
    stage.now = TTL_S
    assert (await stage.tiers.choose(Tier.FAQ, TENANT, {})).model == "b"


async def test_while_the_database_is_away_the_last_known_choice_goes_on(stage: Stage) -> None:
    await stage.tiers.change(TENANT, {Tier.FAQ: "b"})
    await stage.tiers.choose(Tier.FAQ, TENANT, {})
    stage.now, stage.tenants.away = 10 * TTL_S, True
    assert (await stage.tiers.choose(Tier.FAQ, TENANT, {})).model == "b"
    with pytest.raises(RecordsUnavailable):
        await stage.tiers.choose(Tier.FAQ, TenantId(uuid4()), {})


async def test_an_answer_that_crossed_a_change_is_not_remembered(stage: Stage) -> None:
    stage.tenants.hold = asyncio.Event()
    early = asyncio.create_task(stage.tiers.choose(Tier.FAQ, TENANT, {}))
    await eventually(lambda: stage.tenants.asked == 1)
    await stage.tiers.change(TENANT, {Tier.FAQ: "b"})
    stage.tenants.hold.set()
    await early
    assert (await stage.tiers.choose(Tier.FAQ, TENANT, {})).model == "b"
    assert stage.tenants.asked == 2


async def test_only_so_many_tenants_are_remembered(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_tiers, "_MOST_REMEMBERED", 2)
    tenants = [TenantId(uuid4()) for _ in range(3)]
    for tenant in (*tenants, tenants[2], tenants[1], tenants[0]):
        await stage.tiers.choose(Tier.FAQ, tenant, {})
    assert stage.tenants.asked == 4  # the first was forgotten for the third


async def test_a_model_that_is_not_served_cannot_be_chosen(stage: Stage) -> None:
    with pytest.raises(FieldInvalid, match="there are a, b, c") as caught:
        await stage.tiers.change(TENANT, {Tier.FAQ: "b", Tier.SCORING: "large"})
    assert caught.value.field == "scoring"
    assert await stage.tenants.of(TENANT) == {}


async def test_the_table_says_what_serves_and_who_has_chosen_it(stage: Stage) -> None:
    await stage.tiers.change(TENANT, {Tier.ROLE_PLAY: "b"})
    stage.fleet = fleet(a=Health.READY, b=Health.DOWN, c=Health.READY)
    table = {state.tier: state for state in await stage.tiers.table(TENANT)}
    assert set(table) == set(Tier)
    play, faq = table[Tier.ROLE_PLAY], table[Tier.FAQ]
    assert (play.wish.model, play.wish.source, play.is_present) == ("b", WishSource.TENANT, False)
    assert (play.fallbacks, play.serves) == (("c", "a"), Chosen(Tier.ROLE_PLAY, "c", fell_back=True))
    assert (faq.wish.source, faq.is_present, faq.serves) == (WishSource.INSTALLATION, True, Chosen(Tier.FAQ, "c"))
    assert table[Tier.SCORING].wish.source is WishSource.DEFAULT
    await stage.tiers.change(TENANT, {Tier.SENSITIVE: "b"})
    sensitive = next(state for state in await stage.tiers.table(TENANT) if state.tier is Tier.SENSITIVE)
    assert (sensitive.fallbacks, sensitive.serves) == ((), NoPool(Tier.SENSITIVE, "b"))


def test_pools_count_their_replicas(stage: Stage) -> None:
    stage.fleet = fleet(a=Health.READY, b=Health.DOWN)
    assert stage.tiers.pools() == (Pool("a", 1, 1), Pool("b", 1, 0), Pool("c", 0, 0))
