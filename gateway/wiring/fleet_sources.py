"""Where the list of replicas comes from."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.router_settings import RouterProcessSettings
from router.adapters.file_fleet import FileFleet
from router.adapters.static_fleet import StaticFleet
from router.domain.fleet import ReplicaId, ReplicaSpec
from router.ports import FleetSource

_DEFAULT_PORT = "8000"


@asynccontextmanager
async def fleet_source(settings: RouterProcessSettings) -> AsyncIterator[FleetSource]:
    """Raises `FleetSourceUnavailable` where there is no way to ask at all."""
    if settings.kubernetes_service is not None:
        async with _kubernetes(settings, settings.kubernetes_service) as source:
            yield source
    elif settings.fleet_file is not None:
        yield FileFleet(path=settings.fleet_file)
    else:
        yield StaticFleet(
            replicas=[
                ReplicaSpec(ReplicaId(each.id), str(each.url), frozenset(each.models)) for each in settings.replicas
            ]
        )


@asynccontextmanager
async def _kubernetes(settings: RouterProcessSettings, service: str) -> AsyncIterator[FleetSource]:
    # Large, and of no use elsewhere.
    from router.adapters.kubernetes_fleet import KubernetesFleet, kubernetes_client  # noqa: PLC0415

    client = kubernetes_client()
    port = settings.kubernetes_port or _DEFAULT_PORT
    source = KubernetesFleet(
        client=client,
        namespace=settings.kubernetes_namespace or client.namespace,
        service=service,
        port=int(port) if port.isdigit() else port,
    )
    try:
        yield source
    finally:
        await source.close()
