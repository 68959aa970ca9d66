"""How one replica is looked after."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from router.domain.engine_metrics import EngineMetrics
from router.domain.fleet import Health, ReplicaId, ReplicaSpec
from router.domain.health import Observation
from router.domain.sighting import Late, Sighting
from router.fleet_state import FleetState
from router.replica_watch import ReplicaWatch, Surroundings, Ties
from router.settings import EngineKind, RouterSettings
from tests.support.eventually import eventually
from tests.support.fake_probe import FIT, GENERATES, GONE, HERE, FakeProbe, moving

A = ReplicaId("a")
AT_A = ReplicaSpec(A, "http://a")
LATE = Late("no answer within 2 s")
NO_TOKEN = Late("no token for its canary within 10 s")


class Watched:
    """One replica, its watch, and the probe that answers for it."""

    def __init__(
        self,
        *,
        canary_interval_s: float = 0.01,
        engine: EngineKind = EngineKind.VLLM,
        probe_interval_s: float = 0.002,
    ) -> None:
        self.probe = FakeProbe()
        self.state = FleetState()
        self.state.set_replicas([AT_A])
        self.told: list[EngineMetrics] = []
        self.served = 0
        self.canaries: list[str] = []
        settings = RouterSettings(
            engine=engine,
            probe_interval_s=probe_interval_s,
            canary_interval_s=canary_interval_s,
            canary_timeout_s=0.02,
        )
        self.around = Surroundings(
            state=self.state,
            probe=self.probe,
            settings=settings,
            ties=Ties(
                saw_metrics=lambda _, metrics: self.told.append(metrics),
                served=lambda _: self.served,
                tried_out=lambda _, outcome: self.canaries.append(outcome),
            ),
        )
        self.watch = ReplicaWatch(AT_A, self.around)

    @property
    def health(self) -> Health:
        return self.state.current().replicas[0].health

    @property
    def reason(self) -> str:
        return self.state.current().replicas[0].reason

    def asked(self, what: str) -> int:
        return self.probe.asked[what, A]

    async def until(self, health: Health) -> None:
        await eventually(lambda: self.health is health)

    async def until_asked(self, what: str, times: int = 1) -> None:
        """So many times more."""
        wanted = self.asked(what) + times
        await eventually(lambda: self.asked(what) >= wanted)


@asynccontextmanager
async def running(watched: Watched) -> AsyncIterator[Watched]:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(watched.watch.run())
        yield watched
        task.cancel()


async def test_a_first_look_ends_with_a_proven_replica() -> None:
    watched = Watched()
    await watched.watch.first_look()
    assert watched.health is Health.READY
    assert watched.probe.asked == {("look", A): 1, ("register", A): 1, ("try out", A): 1}
    assert watched.canaries == ["passed"]


async def test_a_first_look_at_nobody_ends_at_once() -> None:
    watched = Watched()
    watched.probe.looks(A, GONE)
    await watched.watch.first_look()
    assert (watched.health, watched.reason) == (Health.DOWN, "cannot be reached")
    assert watched.asked("register") == 0


async def test_an_unfit_replica_is_refused_and_gets_no_canary() -> None:
    watched = Watched()
    watched.probe.registers(A, Sighting(Observation.REFUSED, "serves another model"))
    async with running(watched):
        await watched.until(Health.REFUSED)
        await watched.until_asked("register", 2)
    assert watched.asked("try out") == 0


async def test_a_registration_that_is_late_is_none() -> None:
    watched = Watched()
    watched.probe.registers(A, LATE, FIT)
    async with running(watched):
        await watched.until(Health.READY)
    assert watched.asked("register") == 2


async def test_a_ready_replica_is_not_registered_again_and_gets_canaries_on_its_interval() -> None:
    watched = Watched()
    async with running(watched):
        await watched.until(Health.READY)
        await watched.until_asked("try out", 3)
    assert watched.asked("register") == 1


async def test_without_canaries_a_fit_replica_is_ready() -> None:
    watched = Watched(canary_interval_s=0)
    async with running(watched):
        await watched.until(Health.READY)
        await watched.until_asked("look", 3)
    assert watched.asked("try out") == 0


async def test_a_replica_that_answers_but_does_not_generate_never_becomes_ready() -> None:
    watched = Watched()
    watched.probe.generates(A, NO_TOKEN)
    async with running(watched):
        await watched.until(Health.DOWN)
        assert watched.reason == NO_TOKEN.detail
        await watched.until_asked("try out", 2)
        assert watched.health in {Health.DOWN, Health.PROVING}
        watched.probe.generates(A, GENERATES)
        await watched.until(Health.READY)


async def test_one_late_canary_is_forgiven_and_the_second_is_not() -> None:
    watched = Watched()
    async with running(watched):
        await watched.until(Health.READY)
        watched.probe.generates(A, NO_TOKEN, GENERATES)
        await watched.until_asked("try out", 3)
        assert watched.asked("register") == 1
        watched.probe.generates(A, NO_TOKEN)
        await watched.until(Health.DOWN)


async def test_a_wrong_canary_takes_a_replica_down_at_once() -> None:
    watched = Watched()
    async with running(watched):
        await watched.until(Health.READY)
        watched.probe.generates(A, Sighting(Observation.CANARY_FAILED, "answers its canary with HTTP 500"), NO_TOKEN)
        await watched.until(Health.DOWN)
        assert watched.reason == "answers its canary with HTTP 500"
        assert watched.canaries[-1] == "failed"


async def test_an_engine_that_works_on_other_things_is_no_frozen_one() -> None:
    watched = Watched()
    watched.probe.looks(A, *moving(0, 100_000))
    watched.probe.generates(A, NO_TOKEN)
    async with running(watched):
        await watched.until(Health.READY)
        await watched.until_asked("try out", 3)
        assert watched.health is Health.READY
        watched.probe.looks(A, HERE)
        await watched.until(Health.DOWN)


async def test_turns_served_excuse_a_late_canary_where_the_engine_tells_nothing() -> None:
    watched = Watched()
    watched.probe.looks(A, Sighting(Observation.PROBE_PASSED))
    async with running(watched):
        await watched.until(Health.READY)
        watched.around.ties = replace(watched.around.ties, served=lambda _: watched.asked("look"))
        watched.probe.generates(A, NO_TOKEN)
        await watched.until_asked("try out", 3)
        assert watched.health is Health.READY


async def test_a_full_replica_has_the_canarys_time_to_show_that_it_works() -> None:
    watched = Watched()
    await watched.watch.first_look()
    watched.probe.generates(A, Late("refuses its canary with HTTP 503: full"))
    watched.probe.looks(A, *moving(0, 100_000))
    began = asyncio.get_running_loop().time()
    async with running(watched):
        await watched.until_asked("try out", 2)
    assert asyncio.get_running_loop().time() - began >= 0.02
    assert watched.health is Health.READY


async def test_a_lost_turn_is_followed_by_registration_and_canary() -> None:
    watched = Watched(canary_interval_s=60)
    async with running(watched):
        await watched.until(Health.READY)
        watched.state.saw_failure(A, "refused")
        await watched.until(Health.READY)
    assert (watched.asked("register"), watched.asked("try out")) == (2, 2)


async def test_a_canary_from_before_proves_nothing_of_what_came_back() -> None:
    watched = Watched()
    async with running(watched):
        await watched.until(Health.READY)
        watched.probe.hanging.add(("try out", A))
        await watched.until_asked("try out")
        watched.state.saw_failure(A, "refused")
        await watched.until_asked("try out")
        assert watched.health is Health.PROVING
        assert watched.asked("register") == 2


async def test_one_late_look_is_forgiven_and_asked_for_again_at_once() -> None:
    watched = Watched()
    async with running(watched):
        await watched.until(Health.READY)
        watched.probe.looks(A, LATE, HERE)
        await watched.until_asked("look", 3)
        assert watched.asked("register") == 1
        watched.probe.looks(A, LATE)
        await watched.until(Health.DOWN)
        assert watched.reason == LATE.detail


async def test_a_turn_that_got_no_connection_in_time_has_a_look_follow_soon_and_many_have_no_more() -> None:
    watched = Watched(probe_interval_s=60, canary_interval_s=60)
    async with running(watched):
        await watched.until(Health.READY)
        for _ in range(2):
            for _ in range(100):
                watched.state.saw_late_connect(A, "no connection within 2 s")
            await watched.until_asked("look")
            assert watched.health is Health.READY
        assert watched.asked("look") == 3
        watched.probe.looks(A, GONE)
        watched.state.saw_late_connect(A, "no connection within 2 s")
        await watched.until(Health.DOWN)


async def test_whoever_wants_metrics_is_told_them_and_that_they_are_lost() -> None:
    watched = Watched()
    async with running(watched):
        await watched.until(Health.READY)
        watched.probe.looks(A, GONE)
        await watched.until(Health.DOWN)
    assert watched.told[0] == EngineMetrics(tokens_total=7)
    assert watched.told[-1] == EngineMetrics()


async def test_a_process_that_stops_sends_no_canaries() -> None:
    watched = Watched()
    async with running(watched):
        await watched.until(Health.READY)
        watched.around.is_resting = True
        await watched.until_asked("look", 2)
        before = watched.asked("try out")
        await watched.until_asked("look", 20)
        assert watched.asked("try out") == before


async def test_a_replica_that_has_left_is_left_alone() -> None:
    watched = Watched()
    watched.state.set_replicas([])
    await watched.watch.first_look()
    assert not watched.probe.asked


async def test_a_replica_that_left_during_its_canary_is_not_missed() -> None:
    watched = Watched()
    watched.probe.generates(A, NO_TOKEN)
    async with running(watched):
        await watched.until_asked("try out")
        watched.state.set_replicas([])
        canary = watched.watch._canary
        assert canary is not None
        await asyncio.wait([canary])
    assert watched.state.current().replicas == ()


@pytest.mark.parametrize(("engine", "times"), [(EngineKind.VLLM, 1), (EngineKind.OPENAI, 0)])
async def test_operators_are_advised_once_of_what_vllm_cannot_be_asked(engine: EngineKind, times: int) -> None:
    watched = Watched(engine=engine)
    with capture_logs() as logs:
        async with running(watched):
            await watched.until(Health.READY)
            watched.state.saw_failure(A, "refused")
            await watched.until(Health.READY)
    assert len([entry for entry in logs if "--shutdown-timeout" in entry.get("advice", "")]) == times


def test_a_large_fleet_is_looked_at_less_often() -> None:
    watched = Watched()
    assert watched.around.interval_s == pytest.approx(0.02)
    watched.state.set_replicas([ReplicaSpec(ReplicaId(str(n)), f"http://{n}") for n in range(300)])
    assert watched.around.interval_s == pytest.approx(6.0)
