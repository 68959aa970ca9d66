"""How one certain pod is taken out of a Deployment."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.domain.fleet import ReplicaId
from router.fleet.domain.scale_in import (
    Condemn,
    Crew,
    Delete,
    Gone,
    Hold,
    Lower,
    Pardon,
    PodRun,
    PodSeen,
    Restore,
    Step,
    next_step,
)

A, B, C = (ReplicaId(name) for name in "abc")
LOWEST = -2147483648


def pod(name: ReplicaId, run: PodRun = PodRun.RUNNING, *, assigned: bool = True, ready: bool = True) -> PodSeen:
    return PodSeen(name, run, is_assigned=assigned, is_ready=ready)


def condemned(name: ReplicaId, aim: int, *, ready: bool = False) -> PodSeen:
    return replace(pod(name, ready=ready), cost=LOWEST, aim=aim)


def ending(of: PodSeen) -> PodSeen:
    return replace(of, is_ending=True)


def crew(scale: int, *pods: PodSeen, changing: bool = False) -> Crew:
    return Crew(scale, pods, changing)


@pytest.mark.parametrize(
    ("seen", "among", "step"),
    [
        (crew(1, pod(B)), 1, Gone()),
        (crew(1, ending(pod(A)), pod(B)), 1, Gone()),
        (crew(2, ending(pod(A)), pod(B)), 1, Gone()),
        (crew(3, pod(B)), 2, Lower(2)),
        (crew(3, pod(B), pod(C)), 1, Lower(2)),
        (crew(2, pod(B), pod(C)), 1, Gone()),
        (crew(2, pod(B), changing=True), 1, Gone()),
        (crew(2, condemned(B, 2)), 1, Gone()),
        (crew(2, pod(A, PodRun.OVER), pod(B), pod(C)), 1, Delete()),
        (crew(2, pod(A), pod(B)), 2, Delete()),
        (crew(2, pod(A), pod(B)), 3, Delete()),
        (crew(2, pod(A), pod(B), changing=True), 2, Delete()),
        (crew(2, pod(A), pod(B)), 1, Condemn(1)),
        (crew(3, condemned(A, 1), pod(B), pod(C)), 1, Condemn(2)),
        (crew(2, condemned(A, 1), condemned(B, 1)), 1, Pardon(B)),
        (crew(2, condemned(A, 1), pod(B)), 1, Lower(1)),
        (crew(2, condemned(A, 1), pod(B, ready=False)), 1, Lower(1)),
        (crew(1, condemned(A, 0)), 0, Lower(0)),
        (crew(2, condemned(A, 1), pod(B, PodRun.PENDING)), 1, Delete(1)),
        (crew(2, condemned(A, 1), pod(B, PodRun.PENDING, assigned=False)), 1, Delete(1)),
        (crew(2, condemned(A, 1), pod(B, PodRun.UNKNOWN)), 1, Delete(1)),
        (crew(2, condemned(A, 1)), 1, Delete(1)),
        (crew(2, replace(condemned(A, 1, ready=True), is_gated=False), pod(B)), 1, Delete(1)),
        (crew(2, condemned(A, 1), replace(pod(B, ready=False), cost=LOWEST)), 1, Delete(1)),
        (crew(1, condemned(A, 1), ending(pod(B))), 0, Restore(2, A, (B,))),
        (crew(1, condemned(B, 1), ending(pod(C)), pod(A, PodRun.OVER)), 0, Delete()),
        (crew(2, pod(A), condemned(B, 2), ending(pod(C))), 1, Restore(3, B, (C,))),
        (
            crew(0, condemned(A, 0), ending(condemned(B, 1))),
            0,
            Hold("the scale is lowered, and no pod has been given up yet"),
        ),
    ],
)
def test_what_is_done_next(seen: Crew, among: int, step: Step) -> None:
    assert next_step(seen, A, among=among) == step


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        (crew(2, pod(A), pod(B), changing=True), "rolled out"),
        (crew(2, condemned(A, 1, ready=True), pod(B)), "counts as ready"),
        (crew(1, condemned(A, 1), pod(B)), "no pod has been given up yet"),
        (crew(2, condemned(A, 1), pod(B), pod(C)), "more pods than there should be"),
    ],
)
def test_what_is_waited_for(seen: Crew, reason: str) -> None:
    step = next_step(seen, A, among=0)
    assert isinstance(step, Hold)
    assert reason in step.reason


PODS = st.builds(
    lambda run, assigned, ready, cost: PodSeen(
        C, run, is_assigned=assigned or run is not PodRun.PENDING, is_ready=ready and run is PodRun.RUNNING, cost=cost
    ),
    st.sampled_from([PodRun.PENDING, PodRun.UNKNOWN, PodRun.RUNNING, PodRun.OVER]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0, 0, -1_000_000]),
)


@given(
    others=st.lists(PODS, max_size=5),
    missing=st.integers(0, 2),
    among=st.integers(0, 7),
    controller_acts=st.lists(st.booleans(), min_size=40, max_size=40),
)
def test_no_serving_pod_ever_goes_in_place_of_the_one_that_is_to(
    others: list[PodSeen], missing: int, among: int, controller_acts: list[bool]
) -> None:
    """Whenever the ReplicaSet acts, and wherever a controller is killed: each step is taken from what is seen."""
    pods = {ReplicaId(f"p{number}"): replace(each, name=ReplicaId(f"p{number}")) for number, each in enumerate(others)}
    pods[A] = pod(A)
    active = sum(each.is_active for each in pods.values())
    world = World(pods, active + missing)
    serving = {name for name, each in pods.items() if each.is_ready and name != A}
    for acts in controller_acts:
        if acts:
            world.replace_and_give_up()
        step = next_step(Crew(world.scale, tuple(world.pods.values())), A, among=among)
        assert not isinstance(step, Restore)
        world.take(step)
    world.replace_and_give_up()
    assert isinstance(next_step(Crew(world.scale, tuple(world.pods.values())), A, among=among), Gone)
    assert serving <= {name for name, each in world.pods.items() if not each.is_ending}
    assert active + missing - world.scale <= 1
    assert world.scale >= min(among, active + missing)


class World:
    """Pods, and a ReplicaSet that may act late."""

    def __init__(self, pods: dict[ReplicaId, PodSeen], scale: int) -> None:
        self.pods = pods
        self.scale = scale

    def replace_and_give_up(self) -> None:
        active = sorted((each for each in self.pods.values() if each.is_active), key=lambda each: each.place)
        for each in active[: max(0, len(active) - self.scale)]:
            self.pods[each.name] = ending(each)
        for _ in range(self.scale - len(active)):
            name = ReplicaId(f"p{len(self.pods)}")
            self.pods[name] = pod(name, PodRun.PENDING, assigned=False, ready=False)

    def take(self, step: Step) -> None:
        match step:
            case Condemn(aim):
                self.pods[A] = replace(self.pods[A], aim=aim, cost=LOWEST, is_ready=False)
            case Lower(scale):
                self.scale = scale
            case Delete(scale):
                self.pods[A] = ending(self.pods[A])
                self.scale = self.scale if scale is None else scale
            case _:
                pass
