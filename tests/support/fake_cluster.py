"""A Kubernetes cluster with one Deployment: an API server that knows its scale and pods, and the controllers behind.

What each controller does is written after the real one; the order in which a ReplicaSet gives pods up is
`ActivePodsWithRanks` of Kubernetes' own `pkg/controller`. A pod goes through its stages tick by tick; a hold stops one
of those who work here, so that a moment can be looked at which otherwise passes.
"""

import asyncio
import json
import random
import re
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

from typing_extensions import override

from tests.support.fake_kubernetes import NAMESPACE, PATH, TOKEN, FakeKubernetes, Pod, send_json, status_of

DEPLOYMENT, GATE, HASH = "vllm", "drillyard.io/warm", "6d4cf56db6"
SELECTOR = "app.kubernetes.io/name=vllm"
COST = "controller.kubernetes.io/pod-deletion-cost"
ROUTES = re.compile(
    rf"/(?:api/v1|apis/(?P<group>[a-z.]+)/v\d)/namespaces/{NAMESPACE}/(?P<kind>[a-z]+)(?:/(?P<name>[a-z0-9.-]+))?"
    r"(?:/(?P<sub>[a-z]+))?"
)
Thing = dict[str, Any]
Fault = HTTPStatus | Literal["cut", "cut after", "slow", "rubbish", "truncated"]
Who = Literal["replica set", "scheduler", "kubelet", "reaper"]


class FakeCluster(FakeKubernetes):
    """`calls` are those that were made, as "patch deployments/scale"; `allowed` those that may be, None: all."""

    def __init__(self, *, gpus: int = 8, gated: bool = True) -> None:
        super().__init__()
        self.calls: list[str] = []
        self.allowed: set[str] | None = None
        self.faults: deque[tuple[str, Fault]] = deque()
        """The next call of that name is answered so."""
        self.spoil: Callable[[str], Fault | None] | None = None
        """Asked at every call, how it is spoilt."""
        self.holds: set[Who] = set()
        self.perverse: str | None = None
        """A pod that a ReplicaSet gives up before any other, against the order."""
        self.gpus = gpus
        self.quota = 1_000
        self.pull_fails = False
        self.weights_fail = False
        self.scalers: list[Thing] = []
        self.deleted: list[str] = []
        """Pods that were given a deletion timestamp, by whomever."""
        self.moment = datetime(2026, 11, 30, 18, 0, tzinfo=UTC).timestamp()
        self.pods: dict[str, Thing] = {}
        self._gated = gated
        self._dice = random.Random(0)  # noqa: S311 - names of pods
        self._clock = 5_000
        self._addresses = iter(range(1, 250))
        self.deployment = self._made("apps/v1", "Deployment", DEPLOYMENT) | {"spec": {"replicas": 0}, "status": {}}
        self.sets = {f"{DEPLOYMENT}-{HASH}": self._set(HASH)}
        self._ticker: asyncio.Task[None] | None = None
        self._ticked = asyncio.Event()

    # -- hands

    @override
    async def start(self) -> None:
        await super().start()
        self._ticker = asyncio.create_task(self._run())

    @override
    async def stop(self) -> None:
        if self._ticker is not None:
            self._ticker.cancel()
            await asyncio.wait([self._ticker])
        await super().stop()

    async def settled(self) -> None:
        """Until nothing is on its way any more."""
        async with asyncio.timeout(5.0):
            while not self._is_settled():
                await self._ticked.wait()

    async def gone(self, name: str) -> None:
        async with asyncio.timeout(5.0):
            while name in self.pods:
                await self._ticked.wait()

    async def ticks(self, count: int) -> None:
        """Until everybody has had so many turns to work."""
        for _ in range(count + 1):
            await self._ticked.wait()

    def crash(self, name: str) -> None:
        """Its engine is killed, and the kubelet starts it again."""
        container = self.pods[name]["status"]["containerStatuses"][0]
        ended = {"exitCode": 137, "reason": "OOMKilled", "startedAt": self._now(), "finishedAt": self._now()}
        container |= {"restartCount": 1, "lastState": {"terminated": ended}}
        self._touch(self.pods[name])

    def evict(self, name: str) -> None:
        """The kubelet ends it for good; a pod in its place is the ReplicaSet's business."""
        self.pods[name]["status"] |= {
            "phase": "Failed",
            "reason": "Evicted",
            "message": "The node was low on resource: memory.",
        }
        self._touch(self.pods[name])

    def fail_probe(self, name: str) -> None:
        self.pods[name]["status"]["containerStatuses"][0]["ready"] = False

    def is_ready(self, name: str) -> bool:
        return name in self.pods and _is_true(self.pods[name], "Ready")

    def roll(self) -> None:
        """A new version is being brought out: there is a second ReplicaSet, with one pod."""
        self.sets[f"{DEPLOYMENT}-new"] = self._set("new") | {"spec": {"replicas": 1, "selector": {}}}

    def scale_by_hand(self, replicas: int) -> None:
        self.deployment["spec"]["replicas"] = replicas
        self._touch(self.deployment)

    def autoscale(self, target: str = DEPLOYMENT, *, by_keda: bool = False) -> None:
        name = f"keda-hpa-{target}" if by_keda else target
        scaler = self._made("autoscaling/v2", "HorizontalPodAutoscaler", name)
        if by_keda:
            owner = {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "name": target, "uid": "k"}
            scaler["metadata"]["ownerReferences"] = [owner | {"controller": True, "blockOwnerDeletion": True}]
        reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": target}
        self.scalers.append(scaler | {"spec": {"scaleTargetRef": reference, "minReplicas": 1, "maxReplicas": 9}})

    def put_stranger(self, name: str) -> None:
        """A pod that bears the labels and belongs to nobody."""
        self.pods[name] = self._pod(name, owner=None)

    # -- the API

    @override
    async def answer(self, head: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        method, target, _ = head.split(" ", 2)
        url = urlsplit(target)
        if url.path == PATH:
            return await super().answer(head, body, writer)
        assert f"authorization: bearer {TOKEN}" in head.lower()
        route = ROUTES.fullmatch(url.path)
        assert route is not None, url.path
        call = _call(method, route)
        self.calls.append(call)
        fault = self._fault(call)
        if fault not in {None, "cut after"}:
            return await _spoil(fault, writer)
        if self.allowed is not None and call not in self.allowed:
            code, found = HTTPStatus.FORBIDDEN, status_of(HTTPStatus.FORBIDDEN, _forbidden(call, route))
        else:
            kind = re.search(r"^content-type: (\S+)\r$", head, re.IGNORECASE | re.MULTILINE)
            asked = {name: values[0] for name, values in parse_qs(url.query).items()}
            code, found = self._do(call, route["name"] or "", asked, (kind[1] if kind else "", body))
        if fault == "cut after":
            writer.transport.abort()
        else:
            send_json(writer, found, code)
        return None

    def _fault(self, call: str) -> Fault | None:
        if self.faults and self.faults[0][0] == call:
            return self.faults.popleft()[1]
        return self.spoil(call) if self.spoil is not None else None

    def _do(self, call: str, name: str, asked: dict[str, str], sent: tuple[str, bytes]) -> tuple[HTTPStatus, Thing]:
        verb, what = call.split(" ")
        if verb == "list":
            return HTTPStatus.OK, self._list(what, asked)
        if what == "deployments/scale":
            if name != DEPLOYMENT:
                return _missing("deployments.apps", name)
            return self._rescale(*sent) if verb == "patch" else (HTTPStatus.OK, self._scale())
        if name not in self.pods:
            return _missing("pods", name)
        pod = self.pods[name]
        if verb == "patch":
            return self._patch(pod, call, *sent)
        if verb == "delete":
            self._end(pod)
        return HTTPStatus.OK, pod

    def _list(self, what: str, asked: dict[str, str]) -> Thing:
        if what == "horizontalpodautoscalers":
            return self._page("autoscaling/v2", "HorizontalPodAutoscaler", self.scalers, asked)
        assert asked["labelSelector"] == SELECTOR
        if what == "replicasets":
            return self._page("apps/v1", "ReplicaSet", list(self.sets.values()), asked)
        return self._page("v1", "Pod", list(self.pods.values()), asked)

    def _page(self, version: str, kind: str, items: list[Thing], asked: dict[str, str]) -> Thing:
        """In pages, whose continuation is opaque; what belongs to a list has no kind of its own."""
        first, limit = int(asked.get("continue", "0")), int(asked["limit"])
        metadata: Thing = {"resourceVersion": str(self._clock)}
        if len(items) > first + limit:
            metadata |= {"continue": str(first + limit), "remainingItemCount": len(items) - first - limit}
        bare = [{name: part for name, part in item.items() if name not in {"kind", "apiVersion"}} for item in items]
        return {"kind": f"{kind}List", "apiVersion": version, "metadata": metadata, "items": bare[first:][:limit]}

    def _scale(self) -> Thing:
        metadata = self.deployment["metadata"]
        wanted = self.deployment["spec"]["replicas"]
        return {
            "kind": "Scale",
            "apiVersion": "autoscaling/v1",
            "metadata": {name: metadata[name] for name in ("name", "namespace", "uid", "resourceVersion")},
            "spec": {"replicas": wanted} if wanted else {},
            "status": {"replicas": len(self._active()), "selector": SELECTOR},
        }

    def _rescale(self, kind: str, body: bytes) -> tuple[HTTPStatus, Thing]:
        assert kind == "application/merge-patch+json"
        change = json.loads(body)
        if change["metadata"].get("resourceVersion") != self.deployment["metadata"]["resourceVersion"]:
            return _modified("deployments.apps", DEPLOYMENT)
        self.scale_by_hand(change["spec"]["replicas"])
        return HTTPStatus.OK, self._scale()

    def _patch(self, pod: Thing, call: str, kind: str, body: bytes) -> tuple[HTTPStatus, Thing]:
        change = json.loads(body)
        if change.get("metadata", {}).get("uid") != pod["metadata"]["uid"]:
            message = (
                f'Pod "{pod["metadata"]["name"]}" is invalid: metadata.uid: Invalid value: "u": field is immutable'
            )
            return HTTPStatus.UNPROCESSABLE_ENTITY, status_of(HTTPStatus.UNPROCESSABLE_ENTITY, message)
        if call == "patch pods":
            # What a subresource owns is not changed here.
            assert kind == "application/merge-patch+json"
            notes = pod["metadata"].get("annotations", {}) | change["metadata"]["annotations"]
            pod["metadata"]["annotations"] = {name: value for name, value in notes.items() if value is not None}
        else:
            # Conditions are merged by their type: the others stay.
            assert kind == "application/strategic-merge-patch+json"
            for condition in change["status"]["conditions"]:
                _set_condition(pod, condition)
        self._touch(pod)
        return HTTPStatus.OK, pod

    # -- those who work behind it

    async def _run(self) -> None:
        while True:
            await self._tick()
            ticked, self._ticked = self._ticked, asyncio.Event()
            ticked.set()
            await asyncio.sleep(0.003)

    async def _tick(self) -> None:
        self.moment += 1
        if "replica set" not in self.holds:
            self._control()
        for pod in list(self.pods.values()):
            if "deletionTimestamp" in pod["metadata"]:
                self._reap(pod)
            elif pod["status"]["phase"] != "Failed" and _owner(pod):
                self._bring_on(pod)
        await self._show_endpoints()
        ready = sum(_is_true(pod, "Ready") for pod in self.pods.values())
        if self.deployment["status"].get("readyReplicas", 0) != ready:
            self.deployment["status"]["readyReplicas"] = ready
            self._touch(self.deployment)

    def _control(self) -> None:
        """The Deployment's controller, and its ReplicaSets'."""
        if len(self.sets) == 1:
            self.sets[f"{DEPLOYMENT}-{HASH}"]["spec"]["replicas"] = self.deployment["spec"]["replicas"]
        for replica_set in self.sets.values():
            own = self._active(replica_set["metadata"]["uid"])
            surplus = len(own) - replica_set["spec"]["replicas"]
            for pod in self._given_up(own)[: max(0, surplus)]:
                self._end(pod)
            conditions = []
            for _ in range(max(0, -surplus)):
                if len(self.pods) >= self.quota:
                    conditions = [self._quota_met()]
                    break
                suffix = "".join(self._dice.choices("bcdfghjklmnpqrstvwxz2456789", k=5))
                name = f"{replica_set['metadata']['name']}-{suffix}"
                self.pods[name] = self._pod(name, owner=replica_set)
            replica_set["status"] = {"replicas": len(own)} | ({"conditions": conditions} if conditions else {})

    def _given_up(self, pods: list[Thing]) -> list[Thing]:
        crowd = Counter(pod["spec"].get("nodeName") for pod in pods)
        phases = {"Pending": 0, "Unknown": 1, "Running": 2}

        def place(pod: Thing) -> tuple[float | bool, ...]:
            ready: Thing = next((c for c in pod["status"]["conditions"] if c["type"] == "Ready"), {})
            return (
                pod["metadata"]["name"] != self.perverse,
                "nodeName" in pod["spec"],
                phases[pod["status"]["phase"]],
                ready.get("status") == "True",
                int(pod["metadata"].get("annotations", {}).get(COST, "0")),
                -crowd[pod["spec"].get("nodeName")],
                -_seconds(ready.get("lastTransitionTime", pod["metadata"]["creationTimestamp"])),
                -sum(each["restartCount"] for each in pod["status"].get("containerStatuses", ())),
                -_seconds(pod["metadata"]["creationTimestamp"]),
            )

        return sorted(pods, key=place)

    def _bring_on(self, pod: Thing) -> None:
        """The scheduler and the kubelet: one stage further."""
        spec, status = pod["spec"], pod["status"]
        if "nodeName" not in spec:
            if "scheduler" not in self.holds:
                self._schedule(pod)
        elif "kubelet" in self.holds:
            return
        elif status["phase"] == "Pending":
            self._start_containers(pod)
        else:
            ready = all(each["ready"] for each in status["containerStatuses"])
            gates = [each["conditionType"] for each in spec.get("readinessGates", ())]
            self._mark(pod, "ContainersReady", is_true=ready)
            self._mark(pod, "Ready", is_true=ready and all(_is_true(pod, gate) for gate in gates))

    def _schedule(self, pod: Thing) -> None:
        taken = sum("nodeName" in each["spec"] and each["status"]["phase"] != "Failed" for each in self.pods.values())
        if taken >= self.gpus:
            message = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."
            _set_condition(
                pod, {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
            )
            return
        pod["spec"]["nodeName"] = "gpu-1"
        pod["status"] |= {"podIP": f"10.0.0.{next(self._addresses)}", "hostIP": "192.168.1.1"}
        pod["status"]["podIPs"] = [{"ip": pod["status"]["podIP"]}]
        self._mark(pod, "PodScheduled", is_true=True)

    def _start_containers(self, pod: Thing) -> None:
        status = pod["status"]
        waits = {"waiting": {"reason": "PodInitializing"}}
        if self.weights_fail:
            trouble = {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container=weights"}
            ended = {"terminated": {"exitCode": 2, "reason": "Error"}}
            status["initContainerStatuses"] = [_container("weights", {"waiting": trouble}, ended, restarts=4)]
        elif "initContainerStatuses" not in status:
            running = {"running": {"startedAt": self._now()}}
            status["initContainerStatuses"] = [_container("weights", running)]
            status["containerStatuses"] = [_container("vllm", waits)]
        elif self.pull_fails:
            trouble = {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "vllm/vllm-openai:nope"'}
            status["containerStatuses"] = [_container("vllm", {"waiting": trouble})]
        else:
            done = {"terminated": {"exitCode": 0, "reason": "Completed"}}
            status["initContainerStatuses"] = [_container("weights", done)]
            running = {"running": {"startedAt": self._now()}}
            status["containerStatuses"] = [_container("vllm", running) | {"ready": True, "started": True}]
            status["phase"] = "Running"

    def _reap(self, pod: Thing) -> None:
        if "reaper" not in self.holds:
            del self.pods[pod["metadata"]["name"]]

    def _end(self, pod: Thing) -> None:
        if "deletionTimestamp" not in pod["metadata"]:
            pod["metadata"] |= {"deletionTimestamp": self._now(), "deletionGracePeriodSeconds": 90}
            self.deleted.append(pod["metadata"]["name"])
            self._touch(pod)

    async def _show_endpoints(self) -> None:
        """The endpoint slice controller: every pod that has an address."""
        shown = [
            Pod(
                name,
                pod["status"]["podIP"],
                ready=_is_true(pod, "Ready") and "deletionTimestamp" not in pod["metadata"],
                terminating="deletionTimestamp" in pod["metadata"],
            )
            for name, pod in sorted(self.pods.items())
            if "podIP" in pod["status"]
        ]
        if self._shown != shown:
            self._shown = shown
            await self.put("vllm-1", *shown)

    _shown: list[Pod] | None = None

    # -- shapes

    def _pod(self, name: str, *, owner: Thing | None) -> Thing:
        pod = self._made("v1", "Pod", name)
        pod["metadata"] |= {"labels": {"app.kubernetes.io/name": "vllm", "pod-template-hash": HASH}}
        if owner is not None:
            reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner["metadata"]["name"]}
            reference["uid"] = owner["metadata"]["uid"]
            pod["metadata"]["ownerReferences"] = [reference | {"controller": True, "blockOwnerDeletion": True}]
            pod["metadata"]["generateName"] = owner["metadata"]["name"] + "-"
        port = {"name": "http", "containerPort": 8000, "protocol": "TCP"}
        pod["spec"] = {"containers": [{"name": "vllm", "image": "vllm/vllm-openai:v0.33.0", "ports": [port]}]}
        pod["spec"]["initContainers"] = [{"name": "weights", "image": "drillyard:0.1"}]
        if self._gated:
            pod["spec"]["readinessGates"] = [{"conditionType": GATE}]
        pod["status"] = {"phase": "Pending", "qosClass": "Burstable", "conditions": []}
        return pod

    def _set(self, suffix: str) -> Thing:
        made = self._made("apps/v1", "ReplicaSet", f"{DEPLOYMENT}-{suffix}")
        owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": DEPLOYMENT}
        owner["uid"] = self.deployment["metadata"]["uid"]
        made["metadata"]["ownerReferences"] = [owner | {"controller": True, "blockOwnerDeletion": True}]
        return made | {"spec": {"replicas": 0, "selector": {}}, "status": {"replicas": 0}}

    def _made(self, version: str, kind: str, name: str) -> Thing:
        self._clock += 1
        metadata = {"name": name, "namespace": NAMESPACE, "uid": f"uid-{name}-{self._clock}"}
        metadata |= {"resourceVersion": str(self._clock), "creationTimestamp": self._now()}
        return {"apiVersion": version, "kind": kind, "metadata": metadata}

    def _mark(self, pod: Thing, kind: str, *, is_true: bool) -> None:
        if _is_true(pod, kind) != is_true or not any(c["type"] == kind for c in pod["status"]["conditions"]):
            _set_condition(
                pod, {"type": kind, "status": "True" if is_true else "False", "lastTransitionTime": self._now()}
            )
            self._touch(pod)

    def _quota_met(self) -> Thing:
        message = 'pods "vllm-6d4cf56db6-x" is forbidden: exceeded quota: gpus, requested: requests.nvidia.com/gpu=1'
        return {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message}

    def _touch(self, thing: Thing) -> None:
        self._clock += 1
        thing["metadata"]["resourceVersion"] = str(self._clock)

    def _now(self) -> str:
        return datetime.fromtimestamp(self.moment, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def _active(self, owner: str | None = None) -> list[Thing]:
        return [
            pod
            for pod in self.pods.values()
            if "deletionTimestamp" not in pod["metadata"]
            and pod["status"]["phase"] != "Failed"
            and (_owner(pod) == owner if owner else _owner(pod))
        ]

    def _is_settled(self) -> bool:
        own = [pod for pod in self.pods.values() if _owner(pod)]
        wanted = sum(replica_set["spec"]["replicas"] for replica_set in self.sets.values())
        is_controlled = wanted == self.deployment["spec"]["replicas"] or len(self.sets) > 1
        return is_controlled and len(self._active()) == wanted and all(self._is_steady(pod) for pod in own)

    def _is_steady(self, pod: Thing) -> bool:
        status = pod["status"]
        if "deletionTimestamp" in pod["metadata"] or status["phase"] == "Pending":
            return False
        ready = all(each["ready"] for each in status["containerStatuses"])
        gates = [each["conditionType"] for each in pod["spec"].get("readinessGates", ())]
        return status["phase"] == "Failed" or _is_true(pod, "Ready") == (ready and all(_is_true(pod, g) for g in gates))


def _call(method: str, route: re.Match[str]) -> str:
    verbs = {"GET": "get" if route["name"] else "list", "PATCH": "patch", "DELETE": "delete", "PUT": "update"}
    return f"{verbs[method]} {route['kind']}" + (f"/{route['sub']}" if route["sub"] else "")


def _container(name: str, state: Thing, last: Thing | None = None, *, restarts: int = 0) -> Thing:
    found = {"name": name, "image": "i", "imageID": "", "ready": False, "restartCount": restarts, "state": state}
    return found | {"lastState": last or {}, "started": False}


def _is_true(pod: Thing, kind: str) -> bool:
    return any(each["type"] == kind and each["status"] == "True" for each in pod["status"]["conditions"])


def _set_condition(pod: Thing, condition: Thing) -> None:
    others = [each for each in pod["status"]["conditions"] if each["type"] != condition["type"]]
    pod["status"]["conditions"] = [*others, condition]


def _owner(pod: Thing) -> str | None:
    return next((owner["uid"] for owner in pod["metadata"].get("ownerReferences", ())), None)


def _seconds(text: str) -> float:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S%z").timestamp()


def _missing(what: str, name: str) -> tuple[HTTPStatus, Thing]:
    return HTTPStatus.NOT_FOUND, status_of(HTTPStatus.NOT_FOUND, f'{what} "{name}" not found')


def _modified(what: str, name: str) -> tuple[HTTPStatus, Thing]:
    message = (
        f'Operation cannot be fulfilled on {what} "{name}": the object has been modified; please apply your changes to'
        " the latest version and try again"
    )
    return HTTPStatus.CONFLICT, status_of(HTTPStatus.CONFLICT, message)


def _forbidden(call: str, route: re.Match[str]) -> str:
    verb, resource = call.split(" ")
    user = f"system:serviceaccount:{NAMESPACE}:drillyard-fleet"
    return (
        f'{route["kind"]} "{route["name"]}" is forbidden: User "{user}" cannot {verb} resource "{resource}" in API'
        f' group "{route["group"] or ""}" in the namespace "{NAMESPACE}"'
    )


async def _spoil(fault: Fault, writer: asyncio.StreamWriter) -> None:
    match fault:
        case HTTPStatus():
            send_json(writer, status_of(fault, "the server could not do it"), fault)
        case "slow":
            await asyncio.sleep(0.3)
        case "rubbish":
            send_json(writer, {"hello": "world"})
        case "truncated":
            writer.write(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"kind":')
            writer.transport.abort()
        case _:
            writer.transport.abort()


@asynccontextmanager
async def fake_cluster(cluster: FakeCluster | None = None) -> AsyncIterator[FakeCluster]:
    cluster = cluster or FakeCluster()
    await cluster.start()
    try:
        yield cluster
    finally:
        await cluster.stop()


def names(cluster: FakeCluster) -> Iterator[str]:
    return (name for name in sorted(cluster.pods) if _owner(cluster.pods[name]))
