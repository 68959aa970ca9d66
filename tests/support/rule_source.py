"""A source of rules that a test rules over: it stops, fails, and counts how often it is asked."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from typing_extensions import override

from gateway.domain.moderation.phrases import PhraseList
from gateway.moderation_ports import LiveList, RuleSource, TenantRules
from sessions.errors import RecordsUnavailable


@dataclass
class RuledSource(RuleSource):
    inner: RuleSource
    away: bool = False
    looks: int = 0
    """How often it was asked what is in force."""
    read: list[LiveList] = field(default_factory=list)
    """What was asked for."""
    open: asyncio.Event = field(default_factory=asyncio.Event)
    """While it is not set, the answer what is in force is known and does not come."""
    readable: asyncio.Event = field(default_factory=asyncio.Event)
    """The same for what a list says."""

    def __post_init__(self) -> None:
        self.open.set()
        self.readable.set()

    @override
    async def everywhere(self) -> Mapping[UUID, TenantRules]:
        self.looks += 1
        answer = await self._asked().everywhere()
        await self.open.wait()
        return answer

    @override
    async def of_tenant(self, tenant: UUID) -> TenantRules:
        return await self._asked().of_tenant(tenant)

    @override
    async def phrases(self, tenant: UUID, found: LiveList) -> PhraseList:
        self.read.append(found)
        await self.readable.wait()
        return await self._asked().phrases(tenant, found)

    def _asked(self) -> RuleSource:
        if self.away:
            raise RecordsUnavailable("the database is away")
        return self.inner
