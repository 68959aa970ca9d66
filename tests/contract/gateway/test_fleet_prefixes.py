"""What a replica is to compute ahead is what a first turn begins with."""

import json
from dataclasses import replace
from datetime import timedelta

import httpx

from gateway.domain.cache_salt import cache_salt
from gateway.drill_calendar import DrillCalendar
from gateway.fleet_prefixes import MOST_SCENARIOS, ScenarioPrefixes
from gateway.router_tutor import RouterTutor, ServedModel
from gateway.use_cases import use_cases
from router.domain.chat_call import body_of
from router.domain.exchange import ChatRequest
from router.domain.fleet import ReplicaId, ReplicaSpec
from router.fleet.adapters.engine_chat import EngineChat
from router.fleet.adapters.memory_canaries import MemoryCanaries
from router.fleet.adapters.warm_up import WarmthTimes, WarmUp
from router.fleet.domain.demand import Booking, PoolName
from sessions.adapters.memory_class_calendar import MemoryClassCalendar
from sessions.adapters.memory_drills import MemoryDrills
from sessions.adapters.memory_tenant_tiers import MemoryTenantTiers
from sessions.domain.drill import Drill, DrillPlan
from sessions.domain.scenario import ScenarioId, Scene
from sessions.domain.tiers import Offer
from tests.support.scripted_router import ScriptedRouter
from tests.support.session_fakes import content, writers
from tests.support.simulator_process import simulator
from tests.support.stage import Stage, staged

FAKE = PoolName("fake")
ARGUMENTS = {"enable_thinking": "no"}


def prefixes_of(stage: Stage) -> ScenarioPrefixes:
    return ScenarioPrefixes(
        classes=_classes(stage),
        records=stage.records,
        writers=writers("fake"),
        template_arguments={"fake": ARGUMENTS},
    )


def _classes(stage: Stage) -> MemoryClassCalendar:
    drills = stage.outside.drills
    assert isinstance(drills, MemoryDrills)
    return MemoryClassCalendar(drills=drills, records=stage.records, tenants=MemoryTenantTiers())


async def planned(stage: Stage, *, in_minutes: int = 10, scenario: ScenarioId | None = None) -> Drill:
    begins = stage.clock.now() + timedelta(minutes=in_minutes)
    plan = DrillPlan("Monday's", scenario or stage.scenario.id, begins, begins + timedelta(hours=1), 30)
    return await stage.use.create_drill(stage.author, plan)


async def bookings(stage: Stage) -> list[Booking]:
    return list(
        await DrillCalendar(classes=_classes(stage), offer=Offer("fake", ("fake",))).bookings(since=0, until=9e9)
    )


async def first_turn(stage: Stage) -> ChatRequest:
    """What the first turn of a session sends to a replica."""
    router = ScriptedRouter()
    tutor = RouterTutor(router=router, models=[ServedModel("fake", 0.5, tuple(ARGUMENTS.items()))], retry_after_s=1.0)
    stage.use = use_cases(replace(stage.outside, tutor=tutor))
    await stage.play("Good morning. I call about the bill.")
    return router.asked[0].request


async def test_it_is_what_a_first_turn_has_before_the_trainees_words() -> None:
    stage = await staged(scenes=(Scene("call", "<|im_start|>She is cross."), Scene("end", "She hangs up.")))
    await planned(stage)
    (prefix,) = await prefixes_of(stage).of(FAKE, await bookings(stage))
    sent = await first_turn(stage)
    assert list(prefix.messages) == [{"role": m.role, "content": m.content} for m in sent.messages[:-1]]
    assert len(prefix.messages) == 2
    assert prefix.cache_salt == sent.cache_salt == cache_salt(stage.author.tenant)
    assert dict(prefix.template_arguments) == dict(sent.template_arguments) == ARGUMENTS
    assert prefix.name == str(stage.scenario.id)


async def test_the_first_turn_finds_it_in_the_cache_of_a_replica_that_was_warmed_up() -> None:
    stage = await staged(instructions="Never give in at once. " * 20)
    await planned(stage)
    found = await prefixes_of(stage).of(FAKE, await bookings(stage))
    sent = await first_turn(stage)
    with simulator("--enable-prompt-tokens-details", "--served-model-name", "fake") as engine:
        replica = ReplicaSpec(ReplicaId("A"), engine.url, frozenset({"fake"}))
        async with httpx.AsyncClient(trust_env=False) as client:
            steps = WarmUp(chat=EngineChat(client=client), canaries=MemoryCanaries(), times=WarmthTimes())
            await steps.compute(replica, found[0])
        assert await _cached(engine.url, replace(sent, cache_salt="another tenant")) == 0
        whole = sum(len(message.content) for message in sent.messages)
        assert await _cached(engine.url, sent) * 5 > whole / 2, "most of it, at about five letters a token"


async def _cached(url: str, sent: ChatRequest) -> int:
    async with httpx.AsyncClient(trust_env=False) as client:
        chat = EngineChat(client=client)
        reply = await chat.chat(url, json.loads(body_of(sent)), name="turn", within_s=10)
    assert reply.cached_tokens is not None
    return reply.cached_tokens


async def test_each_scenario_comes_once_as_it_is_now_and_the_soonest_bell_first() -> None:
    stage = await staged()
    later = await stage.use.create_scenario(stage.author, content(persona="A neighbour."))
    await planned(stage, in_minutes=30, scenario=later.id)
    for minutes in (90, 10, 20):
        await planned(stage, in_minutes=minutes)
    await stage.use.revise_scenario(stage.author, later.id, content(persona="Another neighbour."))
    found = await prefixes_of(stage).of(FAKE, await bookings(stage))
    assert [prefix.name for prefix in found] == [str(stage.scenario.id), str(later.id)]
    assert "Another neighbour." in found[1].messages[0]["content"]


async def test_there_are_no_more_than_a_cache_may_hold() -> None:
    stage = await staged()
    for number in range(MOST_SCENARIOS + 2):
        made = await stage.use.create_scenario(stage.author, content(persona=f"Caller {number}."))
        await planned(stage, in_minutes=number, scenario=made.id)
    found = await prefixes_of(stage).of(FAKE, await bookings(stage))
    assert [f"Caller {number}." in prefix.messages[0]["content"] for number, prefix in enumerate(found)] == [
        True
    ] * MOST_SCENARIOS


async def test_classes_of_other_pools_and_cancelled_ones_have_none() -> None:
    stage = await staged()
    drill = await planned(stage)
    known = await bookings(stage)
    prefixes = prefixes_of(stage)
    assert await prefixes.of(PoolName("other"), known) == ()
    assert await prefixes.of(FAKE, [replace(each, pool=PoolName("other")) for each in known]) == ()
    assert await prefixes.of(FAKE, [replace(each, is_cancelled=True) for each in known]) == ()
    assert await prefixes.of(FAKE, [replace(each, id="gone") for each in known]) == []  # type: ignore[arg-type]
    assert await prefixes.of(FAKE, []) == ()
    assert len(await prefixes.of(FAKE, known)) == 1
    assert str(drill.id) == known[0].id


async def test_without_the_database_there_are_none() -> None:
    stage = await staged()
    await planned(stage)
    known = await bookings(stage)
    stage.records.away = True
    assert await prefixes_of(stage).of(FAKE, known) == ()
