"""A fleet whose replicas are named in the settings; they never change."""

import asyncio
from collections.abc import Sequence

from typing_extensions import override

from router.domain.fleet import ReplicaSpec
from router.ports import FleetSource


class StaticFleet(FleetSource):
    def __init__(self, *, replicas: Sequence[ReplicaSpec]) -> None:
        self._replicas = tuple(replicas)

    @override
    async def replicas(self) -> Sequence[ReplicaSpec]:
        return self._replicas

    @override
    async def changed(self) -> None:
        await asyncio.Event().wait()
