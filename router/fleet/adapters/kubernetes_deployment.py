"""One Deployment, its scale and its pods: the calls that are made to the API server, and nothing that is decided.

What each of them needs to be allowed stands in `deploy/kubernetes/controller-access.yaml`.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus

import httpx2
import msgspec
from lightkube import AsyncClient
from lightkube.core.client import LabelSelector
from lightkube.core.exceptions import ApiError, ConfigError, NotReadyError
from lightkube.models.autoscaling_v2 import CrossVersionObjectReference
from lightkube.resources.apps_v1 import Deployment, ReplicaSet
from lightkube.resources.autoscaling_v2 import HorizontalPodAutoscaler
from lightkube.resources.core_v1 import Pod
from lightkube.types import PatchType

from router.domain.fleet import ReplicaId
from router.fleet.adapters.kubernetes_pods import name_of, replica_set_of
from router.fleet.errors import HostUnavailable

_CHUNK = 250
# What a server that is away, refuses, or sends something else makes the client raise.
_FAULTS = (
    *(httpx2.HTTPError, msgspec.MsgspecError, ConfigError, NotReadyError, OSError),
    *(AttributeError, KeyError, TypeError, ValueError),
)


class ChangedMeanwhile(Exception):
    """What was seen is out of date: look again."""


@dataclass(frozen=True, slots=True)
class Scale:
    replicas: int
    version: str
    """Of the whole Deployment, so that it also changes as pods become ready."""
    uid: str
    selector: str


@dataclass(frozen=True, slots=True)
class ReplicaSets:
    """Those of the Deployment."""

    uids: frozenset[str]
    in_use: int
    """How many of them are to have pods: more than one while a new version is rolled out."""
    trouble: str
    """Why pods cannot be created; empty: they can."""


class KubernetesDeployment:
    """Every method raises `HostUnavailable`; those that change something raise `ChangedMeanwhile` too."""

    def __init__(self, *, client: AsyncClient, namespace: str, name: str) -> None:
        self._client = client
        self._namespace = namespace
        self.name = name

    async def scale(self) -> Scale:
        with self._said("get", "deployments/scale", self.name):
            found = await self._client.get(Deployment.Scale, self.name, namespace=self._namespace)
            metadata, status = found.metadata, found.status
            if metadata is None or not metadata.resourceVersion or status is None or not status.selector:
                raise ValueError("what came is no scale")
            # The server leaves a zero out.
            replicas = (found.spec and found.spec.replicas) or 0
            return Scale(replicas, metadata.resourceVersion, metadata.uid or "", status.selector)

    async def replica_sets(self, scale: Scale) -> ReplicaSets:
        with self._said("list", "replicasets"):
            found = self._client.list(ReplicaSet, namespace=self._namespace, labels=_selector(scale), chunk_size=_CHUNK)
            own = [each async for each in found if _controller(each) == scale.uid]
            return ReplicaSets(
                uids=frozenset((each.metadata and each.metadata.uid) or "" for each in own),
                in_use=sum(each.spec.replicas != 0 for each in own),
                trouble="; ".join(trouble for each in own for trouble in _troubles(each)),
            )

    async def pods(self, scale: Scale, sets: ReplicaSets) -> Sequence[Pod]:
        with self._said("list", "pods"):
            found = self._client.list(Pod, namespace=self._namespace, labels=_selector(scale), chunk_size=_CHUNK)
            return [pod async for pod in found if replica_set_of(pod) in sets.uids]

    async def pod(self, name: ReplicaId, sets: ReplicaSets) -> Pod | None:
        """None: the Deployment has no such pod."""
        try:
            with self._said("get", "pods", name):
                pod = await self._client.get(Pod, name, namespace=self._namespace)
                return pod if replica_set_of(pod) in sets.uids else None
        except ChangedMeanwhile:
            return None

    async def set_scale(self, replicas: int, *, version: str) -> None:
        """Only if nothing has changed since `version` was read."""
        change = {"metadata": {"resourceVersion": version}, "spec": {"replicas": replicas}}
        with self._said("patch", "deployments/scale", self.name):
            await self._client.patch(
                Deployment.Scale, self.name, change, namespace=self._namespace, patch_type=PatchType.MERGE
            )

    async def annotate(self, pod: Pod, annotations: Mapping[str, str | None]) -> None:
        """None takes one away."""
        change = {"metadata": {**_same(pod), "annotations": dict(annotations)}}
        with self._said("patch", "pods", name_of(pod)):
            await self._client.patch(Pod, name_of(pod), change, namespace=self._namespace, patch_type=PatchType.MERGE)

    async def set_gate(self, pod: Pod, gate: str, *, is_open: bool, reason: str, now: float) -> None:
        # Merged by its type, so that the conditions of others stay.
        condition = {
            "type": gate,
            "status": "True" if is_open else "False",
            "reason": reason,
            "lastTransitionTime": datetime.fromtimestamp(now, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        change = {"metadata": _same(pod), "status": {"conditions": [condition]}}
        with self._said("patch", "pods/status", name_of(pod)):
            await self._client.patch(
                Pod.Status, name_of(pod), change, namespace=self._namespace, patch_type=PatchType.STRATEGIC
            )

    async def delete(self, pod: ReplicaId) -> None:
        """One that is gone is deleted."""
        try:
            with self._said("delete", "pods", pod):
                await self._client.delete(Pod, pod, namespace=self._namespace)
        except ChangedMeanwhile:
            return

    async def autoscaler(self) -> str | None:
        """What scales it beside us, in words; None: nothing does."""
        with self._said("list", "horizontalpodautoscalers"):
            found = self._client.list(HorizontalPodAutoscaler, namespace=self._namespace, chunk_size=_CHUNK)
            async for each in found:
                if self._is_target(each.spec.scaleTargetRef):
                    return _called(each)
        return None

    def _is_target(self, target: CrossVersionObjectReference) -> bool:
        return target.kind == "Deployment" and target.name == self.name

    @contextmanager
    def _said(self, verb: str, what: str, name: str = "") -> Iterator[None]:
        """Whatever the client raises, in our words."""
        called = f"{verb} {what} {name}".strip()
        try:
            yield
        except ApiError as error:
            code = error.status.code
            is_pod_gone = code == HTTPStatus.NOT_FOUND and name and "pods" in what
            if is_pod_gone or code == HTTPStatus.CONFLICT or _is_another(error):
                raise ChangedMeanwhile(called) from error
            if code == HTTPStatus.NOT_FOUND and what == "deployments/scale":
                why = f"there is no Deployment {self.name} in the namespace {self._namespace}"
            elif code == HTTPStatus.FORBIDDEN:
                why = f"the controller may not {verb} {what} (deploy/kubernetes/controller-access.yaml): {error}"
            else:
                why = f"{called}: {error}"
            raise HostUnavailable(why) from error
        except _FAULTS as error:
            raise HostUnavailable(f"{called}: {type(error).__name__} {error}".strip()) from error


def _selector(scale: Scale) -> LabelSelector:
    # A name without a value is written as it is, and so is a whole selector, whatever it is made of.
    return {scale.selector: None}


def _controller(replica_set: ReplicaSet) -> str | None:
    owners = (replica_set.metadata and replica_set.metadata.ownerReferences) or ()
    return next((owner.uid for owner in owners if owner.controller), None)


def _troubles(replica_set: ReplicaSet) -> Iterator[str]:
    for each in (replica_set.status is not None and replica_set.status.conditions) or ():
        if each.type == "ReplicaFailure" and each.status == "True":
            yield each.message or ""


def _same(pod: Pod) -> dict[str, str | None]:
    # Refused where another pod has come to bear the name.
    return {"uid": pod.metadata.uid if pod.metadata is not None else None}


def _is_another(error: ApiError) -> bool:
    return error.status.code == HTTPStatus.UNPROCESSABLE_ENTITY and "metadata.uid" in (error.status.message or "")


def _called(scaler: HorizontalPodAutoscaler) -> str:
    metadata = scaler.metadata
    name = (metadata and metadata.name) or ""
    owners = (metadata and metadata.ownerReferences) or ()
    keda = next((owner.name for owner in owners if owner.kind == "ScaledObject"), None)
    return f"the HorizontalPodAutoscaler {name}" + (f" of the ScaledObject {keda}" if keda else "")
