"""How a pod is read, from shapes that API servers write."""

from typing import Any

import pytest
from lightkube.resources.core_v1 import Pod

from router.fleet.adapters.kubernetes_pods import AIM, COST, hosted, replica_set_of, seen
from router.fleet.domain.hosted import HostedReplica, HostPhase
from router.fleet.domain.scale_in import PodRun, PodSeen

GATE = "drillyard.io/warm"
KILLED = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
RUNS = {"running": {"startedAt": "2026-11-30T18:01:00Z"}}


def read(status: dict[str, Any], *, metadata: dict[str, Any] | None = None, **spec: Any) -> Pod:
    containers = [
        {"name": "helper", "image": "i"},
        {"name": "vllm", "image": "i", "ports": [{"containerPort": 8000}]},
    ]
    pod = Pod.from_dict(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "vllm-1", "uid": "u", "creationTimestamp": "2026-11-30T18:00:00Z"} | (metadata or {}),
            "spec": {"containers": containers, "readinessGates": [{"conditionType": GATE}]} | spec,
            "status": status,
        }
    )
    assert isinstance(pod, Pod)
    return pod


def container(
    name: str, state: dict[str, Any], last: dict[str, Any] | None = None, restarts: int = 0
) -> dict[str, Any]:
    found = {"name": name, "image": "i", "imageID": "", "ready": False, "restartCount": restarts, "state": state}
    return found | {"lastState": last or {}}


def engine(state: dict[str, Any], last: dict[str, Any] | None = None, restarts: int = 0) -> dict[str, Any]:
    return {"phase": "Running", "podIP": "10.0.0.1", "containerStatuses": [container("vllm", state, last, restarts)]}


@pytest.mark.parametrize(
    ("status", "phase", "detail"),
    [
        ({}, HostPhase.PENDING, ""),
        ({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "True"}]}, HostPhase.PENDING, ""),
        (
            {
                "phase": "Pending",
                "conditions": [
                    {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no node"}
                ],
            },
            HostPhase.PENDING,
            "Unschedulable: no node",
        ),
        (
            {
                "phase": "Pending",
                "containerStatuses": [container("vllm", {"waiting": {"reason": "ContainerCreating"}})],
            },
            HostPhase.PENDING,
            "",
        ),
        (
            {
                "phase": "Pending",
                "containerStatuses": [
                    container("vllm", {"waiting": {"reason": "ErrImagePull", "message": "not found"}})
                ],
            },
            HostPhase.PENDING,
            "vllm: ErrImagePull: not found",
        ),
        (
            {"phase": "Pending", "initContainerStatuses": [container("weights", RUNS)]},
            HostPhase.FETCHING,
            "weights runs",
        ),
        (
            {
                "phase": "Pending",
                "initContainerStatuses": [
                    container("weights", {"waiting": {"reason": "CrashLoopBackOff", "message": "m"}}, KILLED)
                ],
            },
            HostPhase.PENDING,
            "weights: CrashLoopBackOff: it ended with exit code 137: OOMKilled",
        ),
        (engine(RUNS), HostPhase.RUNNING, ""),
        (engine(RUNS, KILLED, 1), HostPhase.EXITED, "vllm: it ended with exit code 137: OOMKilled"),
        (engine(RUNS, None, 1), HostPhase.EXITED, "vllm: it was started again"),
        (
            engine({"terminated": {"exitCode": 1, "reason": "Error", "message": "CUDA out of memory\n"}}),
            HostPhase.EXITED,
            "vllm: it ended with exit code 1: CUDA out of memory",
        ),
        (
            engine({"terminated": {"exitCode": 139, "signal": 11, "reason": "Error"}}),
            HostPhase.EXITED,
            "vllm: it ended with signal 11",
        ),
        (
            {"phase": "Running", "containerStatuses": [container("helper", RUNS, KILLED, 3), container("vllm", RUNS)]},
            HostPhase.RUNNING,
            "",
        ),
        (
            {"phase": "Failed", "reason": "Evicted", "message": "low on memory"},
            HostPhase.EXITED,
            "Evicted: low on memory",
        ),
        ({"phase": "Failed"}, HostPhase.EXITED, "its phase is Failed"),
        ({"phase": "Unknown"}, HostPhase.RUNNING, ""),
    ],
)
def test_where_a_pod_is_in_its_life(status: dict[str, Any], phase: HostPhase, detail: str) -> None:
    found = hosted(read(status), port=8000)
    assert (found.phase, found.detail) == (phase, detail)


def test_all_that_is_told_of_it() -> None:
    assert hosted(read(engine(RUNS)), port=8000) == HostedReplica(
        id=seen(read({}), gate=GATE).name, phase=HostPhase.RUNNING, since=1_796_061_600.0, url="http://10.0.0.1:8000"
    )


def test_one_that_ends_is_not_asked_how_it_is() -> None:
    ending = read(engine(RUNS, KILLED, 1), metadata={"deletionTimestamp": "2026-11-30T19:00:00Z"})
    assert (hosted(ending, port=8000).phase, seen(ending, gate=GATE).is_ending) == (HostPhase.STOPPING, True)


def test_without_a_port_every_container_counts() -> None:
    crashed = {"phase": "Running", "containerStatuses": [container("helper", RUNS, KILLED, 1)]}
    assert hosted(read(crashed), port=9000).phase is HostPhase.EXITED


def test_an_address_may_be_of_either_kind_or_not_there_yet() -> None:
    assert hosted(read({"podIP": "fd00::1"}), port=9000).url == "http://[fd00::1]:9000"
    assert hosted(read({}), port=9000).url == ""


def test_a_long_reason_is_cut() -> None:
    assert len(hosted(read({"phase": "Failed", "message": "x" * 10_000}), port=1).detail) == 300


def test_what_its_place_among_those_that_are_given_up_depends_on() -> None:
    ready = [{"type": "Ready", "status": "True"}]
    notes = {"annotations": {COST: "-7", AIM: "3"}}
    assert seen(read({"phase": "Running", "conditions": ready}, metadata=notes, nodeName="n"), gate=GATE) == PodSeen(
        hosted(read({}), port=1).id, PodRun.RUNNING, is_assigned=True, is_ready=True, cost=-7, aim=3
    )
    assert seen(read({}, readinessGates=[]), gate=GATE) == PodSeen(
        hosted(read({}), port=1).id, PodRun.PENDING, is_assigned=False, is_ready=False, is_gated=False
    )


@pytest.mark.parametrize(
    ("phase", "run"), [("Unknown", PodRun.UNKNOWN), ("Failed", PodRun.OVER), ("Succeeded", PodRun.OVER)]
)
def test_a_phase_is_a_run(phase: str, run: PodRun) -> None:
    assert seen(read({"phase": phase}), gate=GATE).run is run


def test_notes_that_are_no_numbers_are_none() -> None:
    found = seen(read({}, metadata={"annotations": {COST: "cheap", AIM: ""}}), gate=GATE)
    assert (found.cost, found.aim) == (0, None)


def test_only_a_controlling_replica_set_is_its_owner() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "r1"}
    assert replica_set_of(read({}, metadata={"ownerReferences": [owner]})) is None
    assert replica_set_of(read({}, metadata={"ownerReferences": [owner | {"controller": True}]})) == "r1"
