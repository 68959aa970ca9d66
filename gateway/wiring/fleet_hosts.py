"""Which host runs the replicas of a pool, by what its settings say."""

import time
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path

from gateway.errors import FleetUnfit
from gateway.wiring.fleet_weights import weights_cache
from router.errors import FleetSourceUnavailable
from router.fleet.adapters.compose_command import ComposeCommand
from router.fleet.adapters.compose_host import ComposeHost
from router.fleet.adapters.dry_run import DryRunHost, Said
from router.fleet.adapters.fetching_host import FetchingHost
from router.fleet.adapters.processes.process_host import ProcessHost
from router.fleet.domain.demand import PoolName
from router.fleet.errors import WeightsUnusable
from router.fleet.keeping import Pool
from router.fleet.ports import ReplicaHost
from router.fleet.settings import (
    ComposeHostSettings,
    HostSettings,
    KubernetesHostSettings,
    PoolSettings,
    ProcessHostSettings,
    WeightsSettings,
)


@asynccontextmanager
async def hosted_pools(pools: Iterable[PoolSettings], said: Said) -> AsyncIterator[list[Pool]]:
    """Those that have a host, `said` what the dry ones would do; raises `FleetUnfit` where a host has no address."""
    async with AsyncExitStack() as stack:
        yield [
            Pool(PoolName(pool.model), pool.rules, await _host(pool, pool.host, stack, said))
            for pool in pools
            if pool.host is not None
        ]


async def _host(pool: PoolSettings, settings: HostSettings, stack: AsyncExitStack, said: Said) -> ReplicaHost:
    host = await _bare(pool, settings, stack)
    if pool.dry_run:
        return DryRunHost(host=host, clock=time.time, said=said)
    return host if pool.weights is None else await stack.enter_async_context(_fetching(host, pool.weights))


@asynccontextmanager
async def _fetching(host: ReplicaHost, weights: WeightsSettings) -> AsyncIterator[ReplicaHost]:
    with ExitStack() as stack:
        try:
            cache = stack.enter_context(weights_cache(weights))
        except WeightsUnusable as error:
            raise FleetUnfit(str(error)) from error
        async with FetchingHost(host=host, weights=cache, clock=time.time) as fetching:
            yield fetching


async def _bare(pool: PoolSettings, settings: HostSettings, stack: AsyncExitStack) -> ReplicaHost:
    match settings:
        case ProcessHostSettings():
            return ProcessHost(settings=settings, weights=_weights(pool))
        case ComposeHostSettings():
            return _compose(pool, settings)
        case KubernetesHostSettings():
            return await stack.enter_async_context(_kubernetes(settings))


def _weights(pool: PoolSettings) -> Path | None:
    return None if pool.weights is None else pool.weights.folder


def _compose(pool: PoolSettings, settings: ComposeHostSettings) -> ReplicaHost:
    return ComposeHost(
        command=ComposeCommand(program=settings.program, file=settings.file, project=settings.project),
        file=settings.file,
        label=settings.label,
        pool=PoolName(pool.model),
        grace_s=settings.grace_s,
    )


@asynccontextmanager
async def _kubernetes(settings: KubernetesHostSettings) -> AsyncIterator[ReplicaHost]:
    # Large, and of no use elsewhere.
    from router.adapters.kubernetes_fleet import kubernetes_client  # noqa: PLC0415
    from router.fleet.adapters.kubernetes_host import KubernetesHost  # noqa: PLC0415

    try:
        client = kubernetes_client(kubeconfig=settings.kubeconfig)
    except FleetSourceUnavailable as error:
        raise FleetUnfit(str(error)) from error
    try:
        yield KubernetesHost(settings=settings, client=client)
    finally:
        await client.close()
