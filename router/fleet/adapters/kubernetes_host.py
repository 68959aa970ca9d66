"""Replicas as pods of a Deployment. Its scale is raised at once and lowered one by one, each time for a certain pod.

Everything is listed anew each time and nothing is watched, so that a connection that is lost without a word costs
nothing. Nothing is remembered either but one thing: that a pod went which was not to go.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import assert_never

import structlog
from lightkube import AsyncClient
from lightkube.resources.core_v1 import Pod
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from router.domain.fleet import ReplicaId
from router.fleet.adapters.kubernetes_deployment import ChangedMeanwhile, KubernetesDeployment, ReplicaSets, Scale
from router.fleet.adapters.kubernetes_pods import (
    AIM,
    COST,
    annotation,
    condition,
    hosted,
    is_ending,
    is_gated,
    name_of,
    seen,
)
from router.fleet.domain.hosted import HostedReplica, Mark
from router.fleet.domain.scale_in import Condemn, Crew, Delete, Gone, Hold, Lower, Pardon, Restore, Work, next_step
from router.fleet.errors import HostUnavailable
from router.fleet.ports import ReplicaHost
from router.fleet.settings import KubernetesHostSettings

_log: FilteringBoundLogger = structlog.get_logger(__name__)

_LEAVING_COST = "-1000000"
_LAST_COST = "-2147483648"
"""The lowest there is."""
_TRIES = 5


class KubernetesHost(ReplicaHost):
    """The client is the wiring's, which closes it. A call that has to wait for the cluster gives up after `patience_s`
    and is taken up again at the next round.
    """

    def __init__(
        self,
        *,
        settings: KubernetesHostSettings,
        client: AsyncClient,
        clock: Callable[[], float] = time.time,
        patience_s: float = 5.0,
        pause_s: float = 0.2,
        wary_s: float = 600.0,
    ) -> None:
        """`wary_s`: for how long no scale is lowered after a pod went that was not to go."""
        self._deployment = KubernetesDeployment(
            client=client, namespace=settings.namespace or client.namespace, name=settings.deployment
        )
        self._settings = settings
        self._clock = clock
        self._patience_s = patience_s
        self._pause_s = pause_s
        self._wary_s = wary_s
        self._wary_until = 0.0
        self._told_of_gate = False

    @property
    @override
    def names_replicas(self) -> bool:
        return True

    @override
    async def list(self) -> Sequence[HostedReplica]:
        _, _, pods = await self._look()
        self._tell_of_gate(pods)
        return tuple(sorted((hosted(pod, port=self._settings.port) for pod in pods), key=lambda each: each.id))

    @override
    async def start(self, replica: ReplicaId, *, among: int) -> None:
        """The scale is raised to `among`, and never lowered."""
        for _ in range(_TRIES):
            scale = await self._deployment.scale()
            if scale.replicas >= among:
                return await self._say_what_hinders(scale)
            await self._refuse_beside_a_scaler()
            try:
                await self._deployment.set_scale(among, version=scale.version)
            except ChangedMeanwhile:
                await asyncio.sleep(self._pause_s)
            else:
                _log.info("scale raised", deployment=self._deployment.name, before=scale.replicas, now=among)
                return None
        raise HostUnavailable(f"the Deployment {self._deployment.name} changed at every try to scale it")

    @override
    async def mark(self, replica: ReplicaId, mark: Mark) -> None:
        for _ in range(_TRIES):
            scale = await self._deployment.scale()
            pod = await self._deployment.pod(replica, await self._deployment.replica_sets(scale))
            if pod is None or is_ending(pod):
                return None
            try:
                return await self._mark(pod, mark)
            except ChangedMeanwhile:
                await asyncio.sleep(self._pause_s)
        raise HostUnavailable(f"{replica} changed at every try to mark it")

    @override
    async def stop(self, replica: ReplicaId, *, among: int) -> None:
        """Return once the pod is being ended, and no other one instead."""
        until = self._clock() + self._patience_s
        while True:
            scale, sets, pods = await self._look()
            crew = Crew(scale.replicas, tuple(seen(pod, gate=self._settings.gate) for pod in pods), sets.in_use > 1)
            step = next_step(crew, replica, among=among)
            if isinstance(step, Gone):
                return
            if self._clock() >= until:
                why = step.reason if isinstance(step, Hold) else "the Deployment changed at every try"
                raise HostUnavailable(f"{replica} is not stopped yet: {why}")
            try:
                await self._take(step, replica, scale, pods)
            except ChangedMeanwhile:
                await asyncio.sleep(self._pause_s)

    async def _mark(self, pod: Pod, mark: Mark) -> None:
        if mark is Mark.SERVING:
            await self._annotate(pod, {COST: None, AIM: None})
            await self._set_gate(pod, is_open=True)
        else:
            await self._set_gate(pod, is_open=False)
            if annotation(pod, AIM) is None:
                await self._annotate(pod, {COST: _LEAVING_COST})

    async def _take(self, step: Work, replica: ReplicaId, scale: Scale, pods: Sequence[Pod]) -> None:
        match step:
            case Hold():
                await asyncio.sleep(self._pause_s)
            case Condemn(aim):
                await self._condemn(_named(pods, replica), aim)
            case Pardon(pod):
                await self._annotate(_named(pods, pod), {COST: _LEAVING_COST, AIM: None})
            case Lower(replicas):
                await self._refuse_while_wary()
                await self._refuse_beside_a_scaler()
                await self._deployment.set_scale(replicas, version=scale.version)
                _log.info("scale lowered", deployment=self._deployment.name, now=replicas, pod=replica)
            case Delete(replicas):
                await self._delete(replica, replicas, scale)
            case Restore():
                await self._restore(step, scale)
            case never:
                assert_never(never)

    async def _condemn(self, pod: Pod, aim: int) -> None:
        # The gate first: who has an aim is known to be marked in full.
        await self._set_gate(pod, is_open=False)
        await self._annotate(pod, {COST: _LAST_COST, AIM: str(aim)})

    async def _delete(self, replica: ReplicaId, replicas: int | None, scale: Scale) -> None:
        if replicas is None:
            await self._deployment.delete(replica)
            _log.info("pod deleted, and wanted anew", deployment=self._deployment.name, pod=replica)
            return
        await self._refuse_while_wary()
        await self._refuse_beside_a_scaler()
        await self._deployment.delete(replica)
        _log.info("pod deleted", deployment=self._deployment.name, pod=replica, scale=replicas)
        await self._follow_with(replicas, before=scale.replicas)

    async def _follow_with(self, replicas: int, *, before: int) -> None:
        for _ in range(_TRIES):
            now = await self._deployment.scale()
            if now.replicas != before:
                return None  # somebody else has scaled it meanwhile, and the plan will see to it
            try:
                return await self._deployment.set_scale(replicas, version=now.version)
            except ChangedMeanwhile:
                await asyncio.sleep(self._pause_s)
        raise HostUnavailable("the pod is deleted, and the scale could not be lowered after it")

    async def _restore(self, step: Restore, scale: Scale) -> None:
        self._wary_until = self._clock() + self._wary_s
        await self._deployment.set_scale(step.scale, version=scale.version)
        lost = ", ".join(step.lost) or "a pod that is gone already"
        _log.error("another pod went than was to go", deployment=self._deployment.name, spared=step.spared, lost=lost)
        raise HostUnavailable(
            f"{lost} went instead of {step.spared}; the scale is {step.scale} again, and is not lowered for"
            f" {self._wary_s:.0f} s"
        )

    async def _look(self) -> tuple[Scale, ReplicaSets, Sequence[Pod]]:
        scale = await self._deployment.scale()
        sets = await self._deployment.replica_sets(scale)
        return scale, sets, await self._deployment.pods(scale, sets)

    async def _annotate(self, pod: Pod, annotations: dict[str, str | None]) -> None:
        if any(annotation(pod, name) != value for name, value in annotations.items()):
            await self._deployment.annotate(pod, annotations)

    async def _set_gate(self, pod: Pod, *, is_open: bool) -> None:
        found = condition(pod, self._settings.gate)
        if found is None or found.status != ("True" if is_open else "False"):
            reason = "Warm" if is_open else "Leaving"
            gate = self._settings.gate
            await self._deployment.set_gate(pod, gate, is_open=is_open, reason=reason, now=self._clock())

    async def _say_what_hinders(self, scale: Scale) -> None:
        if trouble := (await self._deployment.replica_sets(scale)).trouble:
            raise HostUnavailable(f"pods cannot be created: {trouble}")

    async def _refuse_beside_a_scaler(self) -> None:
        if (scaler := await self._deployment.autoscaler()) is not None:
            raise HostUnavailable(
                f"{scaler} scales the Deployment {self._deployment.name} too, and would end pods in use: take it away,"
                " or give the pool no host and let it show the plan only"
            )

    async def _refuse_while_wary(self) -> None:
        left = self._wary_until - self._clock()
        if left > 0:
            raise HostUnavailable(f"the wrong pod went a while ago; no scale is lowered for another {left:.0f} s")

    def _tell_of_gate(self, pods: Sequence[Pod]) -> None:
        ungated = next((pod for pod in pods if not is_gated(pod, self._settings.gate)), None)
        if ungated is not None and not self._told_of_gate:
            gate = self._settings.gate
            _log.warning("pods are ready before they are warm: they lack the gate", pod=name_of(ungated), gate=gate)
            self._told_of_gate = True


def _named(pods: Sequence[Pod], name: ReplicaId) -> Pod:
    return next(pod for pod in pods if name_of(pod) == name)
