"""Replicas as pods of a Deployment, on an API server with the controllers behind it: what hosts promise, and faults."""

from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from http import HTTPStatus

import pytest
from lightkube import AsyncClient
from structlog.testing import capture_logs
from typing_extensions import override

from router.adapters.kubernetes_fleet import KubernetesFleet
from router.domain.board import Board
from router.domain.fleet import ReplicaId, ReplicaSpec
from router.domain.membership import members
from router.fleet.adapters.kubernetes_host import KubernetesHost
from router.fleet.domain.hosted import HostedReplica, HostPhase, Mark
from router.fleet.errors import HostUnavailable
from router.fleet.settings import KubernetesHostSettings
from tests.contract.router.fleet.host_promises import HostHouse, HostPromises
from tests.support.fake_cluster import COST, DEPLOYMENT, FakeCluster, Fault, fake_cluster, names
from tests.support.fake_kubernetes import NAMESPACE, SERVICE
from tests.support.manifests import allowed_calls

SETTINGS = KubernetesHostSettings(deployment=DEPLOYMENT, namespace=NAMESPACE)
ORDER = ReplicaId("order")


class House(HostHouse):
    """A cluster, and hosts that stand on it."""

    def __init__(self, cluster: FakeCluster, stack: AsyncExitStack) -> None:
        self.cluster = cluster
        self._stack = stack
        self._client = self.client()
        self._host = self.another()

    @property
    @override
    def host(self) -> KubernetesHost:
        return self._host

    @override
    def another(self) -> KubernetesHost:
        # A client takes long to make, and remembers nothing.
        return KubernetesHost(settings=SETTINGS, client=self._client, patience_s=0.5, pause_s=0.005)

    def hasty(self) -> KubernetesHost:
        """One that waits for nothing."""
        return KubernetesHost(settings=SETTINGS, client=self.client(timeout_s=0.2))

    def client(self, *, timeout_s: float = 10.0) -> AsyncClient:
        client = self.cluster.client(timeout_s=timeout_s)
        self._stack.push_async_callback(client.close)
        return client

    @override
    async def settle(self) -> None:
        await self.cluster.settled()

    @override
    async def kill(self, replica: ReplicaId) -> None:
        self.cluster.crash(replica)

    @override
    async def cut(self) -> None:
        await self.cluster.stop()

    @override
    async def mend(self) -> None:
        await self.cluster.start()

    async def running(self, count: int, *, serving: bool = True) -> tuple[ReplicaId, ...]:
        """So many pods, which were warmed and are ready."""
        await self.host.start(ORDER, among=count)
        await self.settle()
        found = tuple(ReplicaId(name) for name in names(self.cluster))
        assert len(found) == count
        for name in found if serving else ():
            await self.host.mark(name, Mark.SERVING)
        await self.settle()
        assert all(self.cluster.is_ready(name) is serving for name in found)
        return found

    async def listed(self) -> dict[ReplicaId, HostedReplica]:
        return {replica.id: replica for replica in await self.host.list()}


@pytest.fixture
async def house() -> AsyncIterator[House]:
    async with fake_cluster() as cluster, AsyncExitStack() as stack:
        yield House(cluster, stack)


class TestKubernetesHost(HostPromises):
    """What every host promises."""


async def test_it_is_allowed_what_it_does_and_nothing_else_by_the_manifests(house: House) -> None:
    house.cluster.allowed = allowed_calls()
    first, second = await house.running(2)
    await house.host.mark(first, Mark.LEAVING)
    await house.host.stop(first, among=1)
    await house.settle()
    house.cluster.evict(second)
    await house.host.stop(second, among=1)
    assert set(house.cluster.calls) == allowed_calls()


async def test_a_larger_scale_is_not_lowered_by_a_start(house: House) -> None:
    house.cluster.scale_by_hand(3)
    await house.settle()
    await house.host.start(ORDER, among=1)
    await house.settle()
    assert len(await house.listed()) == 3


async def test_pods_of_others_under_the_same_labels_are_neither_seen_nor_touched(house: House) -> None:
    house.cluster.put_stranger("postgres-0")
    await house.running(1)
    assert "postgres-0" not in await house.listed()
    await house.host.mark(ReplicaId("postgres-0"), Mark.LEAVING)
    await house.host.stop(ReplicaId("postgres-0"), among=0)
    assert "postgres-0" in house.cluster.pods
    assert house.cluster.pods["postgres-0"]["status"]["conditions"] == []
    assert house.cluster.deleted == []


async def test_a_pod_that_finds_no_node_says_so(house: House) -> None:
    house.cluster.gpus = 1
    await house.host.start(ORDER, among=2)
    await _until_told(house, "Unschedulable: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu.")


@pytest.mark.parametrize(
    ("fails", "detail"),
    [
        ("pull_fails", 'vllm: ImagePullBackOff: Back-off pulling image "vllm/vllm-openai:nope"'),
        ("weights_fail", "weights: CrashLoopBackOff: it ended with exit code 2"),
    ],
)
async def test_a_pod_that_does_not_get_on_says_why(house: House, fails: str, detail: str) -> None:
    setattr(house.cluster, fails, True)
    await house.host.start(ORDER, among=1)
    await _until_told(house, detail)
    (stuck,) = await house.listed()
    await house.host.stop(stuck, among=0)
    await house.settle()
    assert await house.listed() == {}


async def test_what_keeps_pods_from_being_created_is_told_to_whoever_orders_them(house: House) -> None:
    house.cluster.quota = 1
    await house.running(1)
    await house.host.start(ORDER, among=2)
    await house.cluster.ticks(2)
    with pytest.raises(HostUnavailable, match="exceeded quota"):
        await house.host.start(ORDER, among=2)


async def test_an_order_that_never_became_a_pod_is_taken_back(house: House) -> None:
    house.cluster.quota = 1
    await house.running(1)
    await house.host.start(ORDER, among=2)
    await house.host.stop(ORDER, among=1)
    assert house.cluster.deployment["spec"]["replicas"] == 1
    house.cluster.quota = 2
    await house.settle()
    assert len(await house.listed()) == 1


async def test_one_that_was_marked_is_ready_until_it_is_to_leave(house: House) -> None:
    (pod,) = await house.running(1, serving=False)
    for mark, is_ready in ((Mark.SERVING, True), (Mark.LEAVING, False), (Mark.SERVING, True)):
        await house.host.mark(pod, mark)
        await house.settle()
        assert house.cluster.is_ready(pod) is is_ready
        notes = house.cluster.pods[pod]["metadata"].get("annotations", {})
        assert notes.get(COST) == (None if is_ready else "-1000000")


async def test_marking_again_changes_nothing(house: House) -> None:
    (pod,) = await house.running(1)
    before = house.cluster.pods[pod]["metadata"]["resourceVersion"]
    await house.host.mark(pod, Mark.SERVING)
    assert house.cluster.pods[pod]["metadata"]["resourceVersion"] == before


async def test_a_mark_leaves_the_conditions_and_notes_of_others(house: House) -> None:
    (pod,) = await house.running(1, serving=False)
    house.cluster.pods[pod]["metadata"]["annotations"] = {"theirs": "kept"}
    before = {each["type"] for each in house.cluster.pods[pod]["status"]["conditions"]}
    await house.host.mark(pod, Mark.LEAVING)
    assert house.cluster.pods[pod]["metadata"]["annotations"]["theirs"] == "kept"
    assert {each["type"] for each in house.cluster.pods[pod]["status"]["conditions"]} >= before


async def test_pods_without_the_gate_are_said_once(house: House) -> None:
    house.cluster._gated = False
    await house.host.start(ORDER, among=1)
    await house.settle()
    with capture_logs() as logs:
        await house.host.list()
        await house.host.list()
    assert [entry["event"] for entry in logs] == ["pods are ready before they are warm: they lack the gate"]


async def test_the_drained_one_goes_though_it_is_the_oldest_and_ready_longest(house: House) -> None:
    first, *others = await house.running(4)
    await house.host.mark(first, Mark.LEAVING)
    await house.host.stop(first, among=3)
    await house.settle()
    assert set(await house.listed()) == set(others)
    assert house.cluster.deleted == [first]


async def test_a_serving_pod_whose_probe_fails_just_then_is_spared(house: House) -> None:
    busy, drained, third = await house.running(3)
    house.cluster.fail_probe(busy)
    await house.settle()
    await house.host.stop(drained, among=2)
    await house.settle()
    assert house.cluster.deleted == [drained]
    assert set(await house.listed()) == {busy, third}


async def test_no_serving_pod_goes_for_one_while_another_one_waits_for_a_node(house: House) -> None:
    """A pod without a node would be given up before any other."""
    house.cluster.gpus = 2
    first, second = await house.running(2)
    await house.host.start(ORDER, among=3)
    await _until_told(house, "Unschedulable")
    await house.host.mark(first, Mark.LEAVING)
    await house.host.stop(first, among=2)
    await house.settle()
    assert second not in house.cluster.deleted
    assert first in house.cluster.deleted
    assert len(await house.listed()) == 2


async def test_a_scale_that_others_changed_meanwhile_is_theirs(house: House) -> None:
    house.cluster.gpus = 2
    first, _ = await house.running(2)
    await house.host.start(ORDER, among=3)
    await _until_told(house, "Unschedulable")

    def by_hand(call: str) -> None:
        if call == "delete pods":
            house.cluster.scale_by_hand(4)

    house.cluster.spoil = by_hand
    await house.host.stop(first, among=2)
    assert house.cluster.deployment["spec"]["replicas"] == 4


async def test_a_scale_that_is_lowered_after_a_pod_is_tried_again(house: House) -> None:
    house.cluster.gpus = 2
    first, second = await house.running(2)
    await house.host.start(ORDER, among=3)
    await _until_told(house, "Unschedulable")
    house.cluster.faults.append(("patch deployments/scale", HTTPStatus.CONFLICT))
    await house.host.stop(first, among=2)
    assert house.cluster.deployment["spec"]["replicas"] == 2
    assert second not in house.cluster.deleted
    await house.settle()
    (third,) = (await house.listed()).keys() - {second}
    house.cluster.gpus = 1
    await house.host.start(ORDER, among=3)
    await _until_told(house, "Unschedulable")
    house.cluster.faults.extend([("patch deployments/scale", HTTPStatus.CONFLICT)] * 5)
    with pytest.raises(HostUnavailable, match="could not be lowered after it"):
        await house.host.stop(third, among=2)


async def test_of_pods_without_the_gate_the_right_one_goes_too(house: House) -> None:
    house.cluster._gated = False
    await house.host.start(ORDER, among=3)
    await house.settle()
    first, *others = names(house.cluster)
    await house.host.stop(ReplicaId(first), among=2)
    await house.settle()
    assert set(others) <= set(await house.listed())
    assert len(await house.listed()) == 2


async def test_one_that_failed_is_replaced_where_as_many_are_wanted_as_before(house: House) -> None:
    ill, well = await house.running(2)
    house.cluster.crash(ill)
    await house.host.stop(ill, among=2)
    await house.settle()
    assert house.cluster.deployment["spec"]["replicas"] == 2
    assert house.cluster.deleted == [ill]
    assert well in await house.listed()


async def test_an_evicted_pod_is_told_and_taken_away_without_another_one_going(house: House) -> None:
    ill, well = await house.running(2)
    house.cluster.evict(ill)
    await house.settle()
    found = (await house.listed())[ill]
    assert (found.phase, found.detail) == (HostPhase.EXITED, "Evicted: The node was low on resource: memory.")
    await house.host.stop(ill, among=1)
    await house.settle()
    assert house.cluster.deleted == [ill]
    assert well in await house.listed()
    assert house.cluster.deployment["spec"]["replicas"] == 2


async def test_several_go_one_after_the_other(house: House) -> None:
    pods = await house.running(5)
    for left, pod in enumerate(reversed(pods[2:]), -4):
        await house.host.mark(pod, Mark.LEAVING)
        await house.host.stop(pod, among=-left)
    await house.settle()
    assert set(await house.listed()) == set(pods[:2])
    assert house.cluster.deleted == list(reversed(pods[2:]))


async def test_while_a_new_version_is_rolled_out_no_scale_is_lowered(house: House) -> None:
    first, _ = await house.running(2)
    house.cluster.roll()
    with pytest.raises(HostUnavailable, match="a new version of the Deployment is being rolled out"):
        await house.host.stop(first, among=1)
    assert house.cluster.deleted == []


async def test_the_scale_is_not_lowered_before_the_drained_pod_counts_as_not_ready(house: House) -> None:
    first, second = await house.running(2)
    house.cluster.holds.add("kubelet")
    with pytest.raises(HostUnavailable, match="it still counts as ready"):
        await house.host.stop(first, among=1)
    assert house.cluster.deployment["spec"]["replicas"] == 2
    house.cluster.holds.clear()
    await house.host.stop(first, among=1)
    await house.settle()
    assert set(await house.listed()) == {second}


@pytest.mark.parametrize("by_keda", [False, True])
async def test_beside_an_autoscaler_nothing_is_scaled(house: House, by_keda: bool) -> None:
    first, _ = await house.running(2)
    house.cluster.autoscale(by_keda=by_keda)
    words = "ScaledObject vllm scales" if by_keda else "HorizontalPodAutoscaler vllm scales"
    with pytest.raises(HostUnavailable, match=words):
        await house.host.start(ORDER, among=3)
    with pytest.raises(HostUnavailable, match=words):
        await house.host.stop(first, among=1)
    assert house.cluster.deployment["spec"]["replicas"] == 2
    assert house.cluster.deleted == []


async def test_an_autoscaler_of_something_else_is_none_of_ours(house: House) -> None:
    house.cluster.autoscale("gateway")
    assert len(await house.running(1)) == 1


async def test_when_the_wrong_pod_goes_the_scale_is_raised_again_and_it_is_said(house: House) -> None:
    first, wrong, third = await house.running(3)
    house.cluster.perverse = wrong
    house.cluster.holds.add("reaper")
    with capture_logs() as logs, pytest.raises(HostUnavailable, match=f"{wrong} went instead of {first}"):
        await house.host.stop(first, among=2)
    assert [entry["lost"] for entry in logs if entry["log_level"] == "error"] == [wrong]
    assert house.cluster.deployment["spec"]["replicas"] == 3
    house.cluster.holds.clear()
    await house.settle()
    with pytest.raises(HostUnavailable, match="the wrong pod went a while ago"):
        await house.host.stop(first, among=2)
    assert house.cluster.deleted == [wrong]
    assert {first, third} <= set(await house.listed())


async def test_the_next_controller_finds_that_the_wrong_pod_went(house: House) -> None:
    first, wrong, _ = await house.running(3)
    house.cluster.perverse = wrong
    house.cluster.holds |= {"replica set", "reaper"}
    with pytest.raises(HostUnavailable, match="no pod has been given up yet"):
        await house.host.stop(first, among=2)
    house.cluster.holds.discard("replica set")
    with pytest.raises(HostUnavailable, match=f"{wrong} went instead of {first}; the scale is 3 again"):
        await house.another().stop(first, among=2)


async def test_a_lowering_that_has_not_been_carried_out_is_not_ordered_again(house: House) -> None:
    first, second, third = await house.running(3)
    house.cluster.holds.add("replica set")
    for _ in range(3):
        with pytest.raises(HostUnavailable, match="no pod has been given up yet"):
            await house.another().stop(first, among=0)
    assert house.cluster.deployment["spec"]["replicas"] == 2
    house.cluster.holds.clear()
    await house.settle()
    assert set(await house.listed()) == {second, third}


async def test_who_was_to_go_and_is_kept_is_as_the_others_again(house: House) -> None:
    first, second, third = await house.running(3)
    house.cluster.faults.append(("patch deployments/scale", HTTPStatus.SERVICE_UNAVAILABLE))
    with pytest.raises(HostUnavailable):
        await house.host.stop(first, among=2)
    await house.host.mark(first, Mark.SERVING)
    await house.settle()
    assert house.cluster.is_ready(first)
    await house.host.stop(second, among=2)
    await house.settle()
    assert set(await house.listed()) == {first, third}


async def test_the_mark_of_one_that_is_not_stopped_after_all_does_not_hinder_another(house: House) -> None:
    first, second, third = await house.running(3)
    house.cluster.faults.append(("patch deployments/scale", HTTPStatus.SERVICE_UNAVAILABLE))
    with pytest.raises(HostUnavailable):
        await house.host.stop(first, among=2)
    await house.host.stop(second, among=2)
    await house.settle()
    assert set(await house.listed()) == {first, third}


@pytest.mark.parametrize("fault", ["cut", "cut after"])
@pytest.mark.parametrize("pending", [False, True], ids=["all run", "one waits"])
async def test_killed_at_any_call_the_next_controller_has_the_same_pod_go(
    house: House, fault: Fault, *, pending: bool
) -> None:
    """The server is cut off before, or after, it has done the n-th call; that is all that is ever seen of a kill."""
    house.cluster.gpus = 3
    pods = await house.running(3)
    for count in range(40):
        victim = pods[0]
        if pending:
            await house.host.start(ORDER, among=4)
            await _until_told(house, "Unschedulable")
        size = 3 if pending else 2
        was_killed = await _stop_but_cut(house, victim, size, after=count, fault=fault)
        await house.another().stop(victim, among=size)
        await house.cluster.gone(victim)
        assert not set(pods[1:]) & set(house.cluster.deleted), f"killed at call {count}"
        assert victim not in await house.listed()
        if not was_killed:
            return
        pods = await _three_again(house)
    pytest.fail("it was killed at every try")


async def test_a_version_that_is_out_of_date_leads_to_another_look(house: House) -> None:
    first, second = await house.running(2)
    house.cluster.faults.extend([("patch deployments/scale", HTTPStatus.CONFLICT)] * 2)
    await house.host.stop(first, among=1)
    house.cluster.faults.append(("patch deployments/scale", HTTPStatus.CONFLICT))
    await house.host.start(ORDER, among=2)
    await house.settle()
    assert second in await house.listed()
    assert len(await house.listed()) == 2


async def test_a_deployment_that_changes_at_every_try_is_given_up_for_now(house: House) -> None:
    first, _ = await house.running(2)
    house.cluster.faults.extend([("patch deployments/scale", HTTPStatus.CONFLICT)] * 1_000)
    with pytest.raises(HostUnavailable, match="changed at every try"):
        await house.host.start(ORDER, among=3)
    with pytest.raises(HostUnavailable, match="changed at every try"):
        await house.host.stop(first, among=1)


async def test_a_mark_is_tried_again_and_a_pod_that_goes_meanwhile_is_let_go(house: House) -> None:
    (pod,) = await house.running(1)
    house.cluster.faults.append(("patch pods/status", HTTPStatus.CONFLICT))
    await house.host.mark(pod, Mark.LEAVING)
    await house.settle()
    assert not house.cluster.is_ready(pod)
    house.cluster.faults.append(("patch pods", HTTPStatus.NOT_FOUND))
    house.cluster.spoil = lambda call: HTTPStatus.NOT_FOUND if call == "get pods" and not house.cluster.faults else None
    await house.host.mark(pod, Mark.SERVING)
    assert house.cluster.faults == deque()


async def test_a_mark_that_cannot_be_set_is_said(house: House) -> None:
    (pod,) = await house.running(1)
    house.cluster.spoil = lambda call: HTTPStatus.CONFLICT if call == "patch pods/status" else None
    with pytest.raises(HostUnavailable, match="changed at every try to mark it"):
        await house.host.mark(pod, Mark.LEAVING)


async def test_a_pod_that_is_gone_when_it_is_to_be_deleted_is_deleted(house: House) -> None:
    (pod,) = await house.running(1)
    house.cluster.evict(pod)

    def gone(call: str) -> Fault | None:
        if call != "delete pods":
            return None
        del house.cluster.pods[pod]
        return HTTPStatus.NOT_FOUND

    house.cluster.spoil = gone
    await house.host.stop(pod, among=1)


async def test_who_lacks_a_right_is_told_which_and_where_it_stands(house: House) -> None:
    first, _ = await house.running(2)
    house.cluster.allowed = allowed_calls() - {"patch deployments/scale"}
    for call in (house.host.start(ORDER, among=3), house.host.stop(first, among=1)):
        with pytest.raises(
            HostUnavailable, match=r"may not patch deployments/scale \(deploy/kubernetes/controller-access.yaml\)"
        ):
            await call
    assert house.cluster.deployment["spec"]["replicas"] == 2


async def test_a_deployment_that_is_not_there_is_named(house: House) -> None:
    settings = KubernetesHostSettings(deployment="vlm", namespace=NAMESPACE)
    host = KubernetesHost(settings=settings, client=house.client())
    with pytest.raises(HostUnavailable, match="there is no Deployment vlm in the namespace drills"):
        await host.list()


async def test_another_pod_of_the_same_name_is_not_marked(house: House) -> None:
    (pod,) = await house.running(1, serving=False)

    def another(call: str) -> None:
        if call == "patch pods/status":
            house.cluster.pods[pod] = house.cluster._pod(pod, owner=None)

    house.cluster.spoil = another
    await house.host.mark(pod, Mark.SERVING)
    assert house.cluster.pods[pod]["status"]["conditions"] == []


@pytest.mark.parametrize(
    "fault", [HTTPStatus.INTERNAL_SERVER_ERROR, HTTPStatus.GONE, "cut", "slow", "rubbish", "truncated"]
)
@pytest.mark.parametrize("call", ["get deployments/scale", "list replicasets", "list pods"])
async def test_an_answer_that_is_none_is_no_empty_pool(house: House, call: str, fault: Fault) -> None:
    await house.running(1)
    house.cluster.faults.append((call, fault))
    with pytest.raises(HostUnavailable):
        await house.hasty().list()


async def test_a_replica_set_that_says_nothing_of_itself_is_no_answer(house: House) -> None:
    await house.running(1)
    house.cluster.holds |= {"replica set"}
    for replica_set in house.cluster.sets.values():
        replica_set.pop("spec")
    with pytest.raises(HostUnavailable, match="list replicasets"):
        await house.hasty().list()


async def test_a_pool_of_many_pages_is_listed_whole(house: House) -> None:
    for number in range(260):
        name = f"vllm-6d4cf56db6-{number:05}"
        house.cluster.pods[name] = house.cluster._pod(name, owner=next(iter(house.cluster.sets.values())))
    house.cluster.holds |= {"replica set", "scheduler"}
    assert len(await house.listed()) == 260
    assert house.cluster.calls.count("list pods") == 2


async def test_a_warmed_pod_is_open_to_the_router_and_one_that_leaves_is_closed(house: House) -> None:
    """The router knows a pod twice: by its endpoint, and by the controller's order."""
    fleet = KubernetesFleet(client=house.cluster.client(), namespace=NAMESPACE, service=SERVICE, port="http")

    async def router() -> Sequence[ReplicaSpec]:
        listed = {replica.id: replica.url for replica in await house.host.list()}
        joined = Board(added=tuple(ReplicaSpec(name, url) for name, url in listed.items()))
        await fleet._list()
        return members(await fleet.replicas(), joined)

    (pod,) = await house.running(1, serving=False)
    assert [(spec.id, spec.is_closed) for spec in await router()] == [(pod, True)]
    for mark, is_closed in ((Mark.SERVING, False), (Mark.LEAVING, True)):
        await house.host.mark(pod, mark)
        await house.settle()
        (spec,) = await router()
        assert (spec.id, spec.is_closed) == (pod, is_closed)
        assert spec.url == (await house.listed())[pod].url
    await fleet.close()


async def _until_told(house: House, detail: str) -> None:
    for _ in range(500):
        if any(replica.detail.startswith(detail) for replica in await house.host.list()):
            return
    pytest.fail(f"nobody told {detail}; but {await house.host.list()}")


async def _stop_but_cut(house: House, victim: ReplicaId, among: int, *, after: int, fault: Fault) -> bool:
    """Whether the n-th call was one of those that stopping it needed."""
    calls = len(house.cluster.calls)

    def faults(_: str) -> Fault | None:
        return fault if len(house.cluster.calls) - calls == after + 1 else None

    house.cluster.spoil = faults
    try:
        await house.another().stop(victim, among=among)
    except HostUnavailable:
        return True
    finally:
        house.cluster.spoil = None
    return False


async def _three_again(house: House) -> tuple[ReplicaId, ...]:
    await house.another().start(ORDER, among=3)
    house.cluster.scale_by_hand(3)
    await house.settle()
    house.cluster.deleted.clear()
    found = tuple(ReplicaId(name) for name in names(house.cluster))
    for name in found:
        await house.host.mark(name, Mark.SERVING)
    await house.settle()
    return found
