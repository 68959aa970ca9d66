"""Simulated trainees come, stay on, and move."""

from random import Random

from router.domain.fleet import ReplicaId, ReplicaSpec
from router.fleet.adapters.memory_routers import MemoryRouters
from router.fleet.adapters.simulated.crowd import IDLE_S, STAY_ON_S, Crowd, Trainee, crowd_of
from tests.support.fleet_house import booking

A, B = (ReplicaSpec(ReplicaId(name), f"http://{name}.simulated") for name in "ab")


async def crowd(count: int, *replicas: ReplicaSpec) -> Crowd:
    routers = MemoryRouters()
    for replica in replicas:
        await routers.join(replica)
    return Crowd(routers, 4, [Trainee(10.0, 100.0, 90.0) for _ in range(count)])


async def test_they_come_at_their_time_spread_and_leave() -> None:
    people = await crowd(6, A, B)
    people.pass_time(9.0, spent_s=1.0)
    assert people.routers.sessions == {}
    people.pass_time(10.0, spent_s=1.0)
    assert people.routers.sessions == {A.id: 3, B.id: 3}
    people.pass_time(100.0, spent_s=1.0)
    assert people.routers.sessions == {A.id: 0, B.id: 0}
    assert (people.turned_away, people.crowded) == (0, 0)


async def test_sessions_move_off_a_replica_that_drains_some_at_a_time() -> None:
    people = await crowd(6, A, B)
    people.pass_time(10.0, spent_s=1.0)
    await people.routers.drain(A.id)
    people.pass_time(20.0, spent_s=10.0)
    assert people.routers.sessions == {A.id: 1, B.id: 5}
    assert people.crowded == 1
    people.pass_time(30.0, spent_s=10.0)
    assert people.routers.sessions == {A.id: 0, B.id: 6}


async def test_who_finds_no_replica_is_told_of_once_and_seated_when_there_is_one() -> None:
    people = await crowd(3)
    people.pass_time(10.0, spent_s=1.0)
    people.pass_time(15.0, spent_s=1.0)
    assert people.turned_away == 3
    await people.routers.join(A)
    people.pass_time(20.0, spent_s=1.0)
    assert (people.turned_away, people.on(A.id)) == (3, 3)


async def test_who_sat_on_a_replica_that_is_gone_sits_on_another() -> None:
    people = await crowd(2, A)
    people.pass_time(10.0, spent_s=1.0)
    await people.routers.leave(A.id)
    await people.routers.join(B)
    people.pass_time(20.0, spent_s=1.0)
    assert (people.on(A.id), people.on(B.id)) == (0, 2)


def test_a_quarter_of_a_class_stays_on_for_some_minutes() -> None:
    people = crowd_of([booking("class", 0.0, 3600.0, 1000)], Random(1))  # noqa: S311 - a simulation
    late = [trainee.leaves - 3600.0 for trainee in people if trainee.leaves > 3600.0]
    assert 200 < len(late) < 300
    assert max(late) <= STAY_ON_S
    assert all(trainee.class_ends == 3600.0 for trainee in people)


async def test_a_session_that_is_left_open_counts_for_a_while() -> None:
    people = await crowd(1, A)
    people.trainees[0].lingers_s = IDLE_S
    people.pass_time(10.0, spent_s=1.0)
    people.pass_time(100.0 + IDLE_S - 1.0, spent_s=1.0)
    assert people.on(A.id) == 1
    people.pass_time(100.0 + IDLE_S, spent_s=1.0)
    assert people.on(A.id) == 0


def test_as_many_leave_theirs_open_as_is_said() -> None:
    class_ = [booking("class", 0.0, 3600.0, 1000)]
    people = crowd_of(class_, Random(1), abandon_rate=0.3)  # noqa: S311 - a simulation
    assert 250 < sum(trainee.lingers_s == IDLE_S for trainee in people) < 350
