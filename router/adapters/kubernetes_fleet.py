"""A fleet that is the endpoints of a Kubernetes service, as its EndpointSlices list them.

The slices are listed once and then watched. Whatever ends the watch (the server's own time limit, a cut connection, a
version that is too old, an API server that is away) leads to a new list, and a list is made now and then in any case,
because a connection that is lost without a word would be waited on for ever.
"""

import asyncio
from collections.abc import AsyncGenerator, Collection, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import cast

import httpx2
import msgspec
import structlog
from lightkube import AsyncClient
from lightkube.config.kubeconfig import KubeConfig
from lightkube.core.exceptions import ApiError, ConfigError, NotReadyError
from lightkube.models.discovery_v1 import Endpoint
from lightkube.resources.discovery_v1 import EndpointSlice
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from router.domain.fleet import ReplicaId, ReplicaSpec
from router.errors import FleetSourceUnavailable
from router.ports import FleetSource

_log: FilteringBoundLogger = structlog.get_logger(__name__)

_SERVICE_LABEL = "kubernetes.io/service-name"
_TIMEOUT_S = 10.0
# What a server that is away, refuses, or sends something else makes the client raise.
_FAULTS = (httpx2.HTTPError, msgspec.MsgspecError, ConfigError, NotReadyError, OSError, AttributeError)

_Watch = AsyncGenerator[tuple[str, EndpointSlice], None]


def kubernetes_client(*, kubeconfig: Path | None = None) -> AsyncClient:
    """Without a file: the pod's own service account, else `KUBECONFIG`, else the user's file.

    Raises `FleetSourceUnavailable` when none of them will do.
    """
    try:
        config = KubeConfig.from_env() if kubeconfig is None else KubeConfig.from_file(kubeconfig)
        # Without proxies from the environment; the configuration was read above.
        return AsyncClient(config=config, timeout=httpx2.Timeout(_TIMEOUT_S), trust_env=False)
    except (ConfigError, KeyError, TypeError, ValueError, AssertionError, OSError, msgspec.MsgspecError) as error:
        raise FleetSourceUnavailable(f"no usable Kubernetes configuration ({error})") from error


class KubernetesFleet(FleetSource):
    """`port` is the name or the number of the engine's port; a name is looked up in each slice."""

    def __init__(
        self,
        *,
        client: AsyncClient,
        namespace: str,
        service: str,
        port: str | int,
        relist_s: float = 30.0,
        pause_s: float = 1.0,
    ) -> None:
        self._client = client
        self._namespace = namespace
        self._service = service
        self._port = port
        self._relist_s = relist_s
        self._pause_s = pause_s
        self._slices: dict[str, EndpointSlice] = {}
        self._watch: _Watch | None = None
        self._cannot_watch = False

    @override
    async def replicas(self) -> Sequence[ReplicaSpec]:
        if self._watch is None:
            version = await self._list()
            self._watch = self._watch_from(version)
        return _specs(self._slices.values(), self._port)

    @override
    async def changed(self) -> None:
        if self._watch is None:
            await asyncio.sleep(self._pause_s)
            return
        try:
            async with asyncio.timeout(self._relist_s):
                self._apply(*await anext(self._watch))
        except (TimeoutError, StopAsyncIteration):
            await self._stop_watching()
        except _FAULTS as error:
            self._say_that_watching_failed(error)
            await self._stop_watching()
            await asyncio.sleep(self._pause_s)
        else:
            self._cannot_watch = False

    async def close(self) -> None:
        """Let go of the watch and of the client."""
        await self._stop_watching()
        await self._client.close()

    async def _list(self) -> str:
        try:
            found = self._client.list(EndpointSlice, namespace=self._namespace, labels={_SERVICE_LABEL: self._service})
            slices = {_name(each): each async for each in found}
        except _FAULTS as error:
            raise FleetSourceUnavailable(
                f"the endpoints of {self._service} cannot be listed ({_named(error)})"
            ) from error
        self._slices = slices
        return found.resourceVersion

    def _watch_from(self, version: str) -> _Watch:
        events = self._client.watch(
            EndpointSlice,
            namespace=self._namespace,
            labels={_SERVICE_LABEL: self._service},
            resource_version=version,
            server_timeout=max(1, int(10 * self._relist_s)),
        )
        return cast(_Watch, events)

    def _apply(self, kind: str, changed: EndpointSlice) -> None:
        if kind in {"ADDED", "MODIFIED"}:
            self._slices[_name(changed)] = changed
        elif kind == "DELETED":
            self._slices.pop(_name(changed), None)

    async def _stop_watching(self) -> None:
        watch, self._watch = self._watch, None
        if watch is not None:
            await watch.aclose()

    def _say_that_watching_failed(self, error: Exception) -> None:
        # A watch ends in the ordinary course of things; one that cannot be had at all wants an operator.
        if isinstance(error, httpx2.HTTPStatusError) and not _is_gone(error) and not self._cannot_watch:
            _log.warning("endpoints cannot be watched, only listed", service=self._service, detail=_named(error))
            self._cannot_watch = True


def _specs(slices: Collection[EndpointSlice], port: str | int) -> tuple[ReplicaSpec, ...]:
    """In the order of their names, each once: IPv4 goes first where a pod has both.

    Raises `FleetSourceUnavailable` for what can only be a mistake, upon which the last known fleet goes on.
    """
    if not slices:
        raise FleetSourceUnavailable("there is no such service, or it has no endpoint slices")
    found: dict[str, ReplicaSpec] = {}
    for each in sorted(slices, key=lambda each: (each.addressType, _name(each))):
        if each.endpoints and (number := _port(each, port)) is not None:
            specs = (_spec(endpoint, number) for endpoint in each.endpoints if endpoint.addresses)
            found = {spec.id: spec for spec in specs} | found
    if not found and any(each.endpoints for each in slices):
        raise FleetSourceUnavailable(f"the service has no port named {port}")
    return tuple(found[name] for name in sorted(found))


def _port(slice_: EndpointSlice, port: str | int) -> int | None:
    if isinstance(port, int):
        return port
    return next((each.port for each in slice_.ports or () if each.name == port), None)


def _spec(endpoint: Endpoint, port: int) -> ReplicaSpec:
    address = endpoint.addresses[0]
    host = f"[{address}]" if ":" in address else address
    pod = endpoint.targetRef.name if endpoint.targetRef is not None else None
    conditions = endpoint.conditions
    # An unset condition counts as ready. One that is not, is kept: a busy engine fails its readiness probe now and
    # then, and must not lose its sessions to that.
    is_open = conditions is None or (conditions.ready is not False and not conditions.terminating)
    return ReplicaSpec(ReplicaId(pod or address), f"http://{host}:{port}", is_closed=not is_open)


def _name(slice_: EndpointSlice) -> str:
    return (slice_.metadata and slice_.metadata.name) or ""


def _is_gone(error: httpx2.HTTPStatusError) -> bool:
    """Whether the version to watch from is too old, said in the status or in an event."""
    code = error.status.code if isinstance(error, ApiError) else error.response.status_code
    return code == HTTPStatus.GONE


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
