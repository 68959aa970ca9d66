"""How a pod is read: as a replica for the controller, and as one of those of whom one is to go."""

from collections.abc import Iterable, Sequence

from lightkube.models.core_v1 import ContainerState, ContainerStateTerminated, ContainerStatus, PodCondition
from lightkube.resources.core_v1 import Pod

from router.domain.fleet import ReplicaId
from router.fleet.domain.hosted import HostedReplica, HostPhase
from router.fleet.domain.scale_in import PodRun, PodSeen

COST = "controller.kubernetes.io/pod-deletion-cost"
AIM = "drillyard.io/scale-without-it"

_RUNS = {
    "Pending": PodRun.PENDING,
    "Running": PodRun.RUNNING,
    "Failed": PodRun.OVER,
    "Succeeded": PodRun.OVER,
}
# Of a container that is merely on its way there is nothing to tell.
_ORDINARY = {None, "", "ContainerCreating", "PodInitializing"}
_LONGEST_DETAIL = 300


def name_of(pod: Pod) -> ReplicaId:
    return ReplicaId((pod.metadata and pod.metadata.name) or "")


def replica_set_of(pod: Pod) -> str | None:
    """The uid of the ReplicaSet that made it."""
    owners = (pod.metadata and pod.metadata.ownerReferences) or ()
    return next((owner.uid for owner in owners if owner.controller and owner.kind == "ReplicaSet"), None)


def is_ending(pod: Pod) -> bool:
    return pod.metadata is not None and pod.metadata.deletionTimestamp is not None


def annotation(pod: Pod, name: str) -> str | None:
    return ((pod.metadata and pod.metadata.annotations) or {}).get(name)


def condition(pod: Pod, kind: str) -> PodCondition | None:
    return next((each for each in (pod.status and pod.status.conditions) or () if each.type == kind), None)


def is_true(pod: Pod, kind: str) -> bool:
    found = condition(pod, kind)
    return found is not None and found.status == "True"


def is_gated(pod: Pod, gate: str) -> bool:
    return any(each.conditionType == gate for each in (pod.spec and pod.spec.readinessGates) or ())


def seen(pod: Pod, *, gate: str) -> PodSeen:
    phase = pod.status.phase if pod.status is not None else "Pending"
    return PodSeen(
        name=name_of(pod),
        run=_RUNS.get(phase or "Pending", PodRun.UNKNOWN),
        is_assigned=bool(pod.spec and pod.spec.nodeName),
        is_ready=is_true(pod, "Ready"),
        is_gated=is_gated(pod, gate),
        cost=_number(annotation(pod, COST)) or 0,
        aim=_number(annotation(pod, AIM)),
        is_ending=is_ending(pod),
    )


def hosted(pod: Pod, *, port: int) -> HostedReplica:
    phase, detail = _phase(pod, port)
    created = pod.metadata and pod.metadata.creationTimestamp
    return HostedReplica(
        id=name_of(pod),
        phase=phase,
        since=created.timestamp() if created else 0.0,
        url=_url(pod, port),
        detail=detail[:_LONGEST_DETAIL],
    )


def _phase(pod: Pod, port: int) -> tuple[HostPhase, str]:
    if is_ending(pod):
        return HostPhase.STOPPING, ""
    status = pod.status
    phase = (status and status.phase) or "Pending"
    if phase in {"Failed", "Succeeded"}:
        said = ((status and status.reason) or "", (status and status.message) or "")
        return HostPhase.EXITED, _joined(said) or _last_words(_containers(pod, port)) or f"its phase is {phase}"
    if ended := _last_words(_containers(pod, port)):
        return HostPhase.EXITED, ended
    if phase == "Pending":
        return _waiting(pod)
    return HostPhase.RUNNING, ""


def _waiting(pod: Pod) -> tuple[HostPhase, str]:
    status = pod.status
    scheduled = condition(pod, "PodScheduled")
    if scheduled is not None and scheduled.status == "False":
        return HostPhase.PENDING, _joined((scheduled.reason or "", scheduled.message or ""))
    before = (status and status.initContainerStatuses) or []
    own = (status and status.containerStatuses) or []
    troubles = [trouble for each in (*before, *own) if (trouble := _trouble(each))]
    if troubles:
        return HostPhase.PENDING, "; ".join(troubles)
    fetching = next((each.name for each in before if each.state and each.state.running and not each.started), None)
    return (HostPhase.FETCHING, f"{fetching} runs") if fetching else (HostPhase.PENDING, "")


def _trouble(container: ContainerStatus) -> str:
    """Why it does not get on."""
    waiting = container.state and container.state.waiting
    if not waiting or waiting.reason in _ORDINARY:
        return ""
    ended = container.lastState and container.lastState.terminated
    return _joined((f"{container.name}: {waiting.reason}", _ending(ended) if ended else waiting.message or ""))


def _containers(pod: Pod, port: int) -> Sequence[ContainerStatus]:
    """Those that have the engine's port; all of them where none says so. A helper beside it may come and go."""
    own = (pod.spec and pod.spec.containers) or []
    engines = {each.name for each in own if any(each_.containerPort == port for each_ in each.ports or ())}
    statuses = (pod.status and pod.status.containerStatuses) or []
    return [each for each in statuses if not engines or each.name in engines]


def _last_words(containers: Iterable[ContainerStatus]) -> str:
    """How the first one ended that did, once or for good. One that was started again has lost all that was warm."""
    for each in containers:
        ended = _terminated(each.state) or _terminated(each.lastState)
        if ended is not None:
            return f"{each.name}: {_ending(ended)}"
        if each.restartCount:
            return f"{each.name}: it was started again"
    return ""


def _terminated(state: ContainerState | None) -> ContainerStateTerminated | None:
    return state.terminated if state is not None else None


def _ending(ended: ContainerStateTerminated) -> str:
    how = f"signal {ended.signal}" if ended.signal else f"exit code {ended.exitCode}"
    reason = ended.reason if ended.reason not in {None, "", "Error", "Completed"} else ""
    return _joined((f"it ended with {how}", reason or "", (ended.message or "").strip()))


def _url(pod: Pod, port: int) -> str:
    address = (pod.status and pod.status.podIP) or ""
    if not address:
        return ""
    return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"


def _number(text: str | None) -> int | None:
    try:
        return None if text is None else int(text)
    except ValueError:
        return None


def _joined(parts: Iterable[str]) -> str:
    return ": ".join(part for part in parts if part)
