"""Which rules are in force for every tenant, held in memory and read again all the time.

So that a turn of a tenant without lists never waits for the database, and what any process puts in force is in force in
all of them soon. Where a change was made by this process, it is in force here before anybody is told that it was made.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from uuid import UUID

import structlog
from structlog.typing import FilteringBoundLogger

from gateway.moderation_ports import RuleSource, TenantRules
from sessions.errors import ModerationUnavailable, RecordsUnavailable

_log: FilteringBoundLogger = structlog.get_logger(__name__)
_NO_RULES = TenantRules()
_PAUSE_S = 0.1
"""After a question that was in vain, however many wait for the next."""


class RuleIndex:
    """While the database is away, what was known before stays in force. `run` must run beside whoever asks."""

    def __init__(self, *, source: RuleSource, clock: Callable[[], float], every_s: float, wait_s: float) -> None:
        self._source = source
        self._clock = clock
        self._every_s = every_s
        self._wait_s = wait_s
        self._rules: Mapping[UUID, TenantRules] = {}
        self._known_since: float | None = None
        """When the question was asked whose answer this is; None: there was no answer yet."""
        self._begun = self._ended = 0
        """Questions so far."""
        self._wanted = asyncio.Event()
        self._answered = asyncio.Condition()
        self._unseen: dict[UUID, int] = {}
        """Whose rules may have changed here, with how many questions had begun by then: only a later one counts."""
        self.failures = 0
        self.news: Callable[[], None] = lambda: None
        """Called when any rules have changed."""

    async def of(self, tenant: UUID) -> TenantRules:
        """Raises `ModerationUnavailable` while they are not known, or not for certain."""
        if self._is_unknown(tenant):
            await self._ask_anew()
            if self._is_unknown(tenant):
                raise ModerationUnavailable("which rules are in force cannot be told now")
        return self._rules.get(tenant, _NO_RULES)

    def known(self, tenant: UUID) -> TenantRules:
        """As far as is known, which may be out of date."""
        return self._rules.get(tenant, _NO_RULES)

    async def changed(self, tenant: UUID) -> None:
        """This process may have changed them: from now on nothing older is told of them."""
        self._unseen[tenant] = self._begun
        try:
            await self._ask_anew()
        except ModerationUnavailable:
            _log.warning("changed rules cannot be read; turns of this tenant wait for them", tenant=str(tenant))

    async def run(self) -> None:
        while True:
            self._wanted.clear()
            self._begun += 1
            is_told = await self._ask()
            self._ended = self._begun
            async with self._answered:
                self._answered.notify_all()
            if not is_told:
                await asyncio.sleep(_PAUSE_S)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wanted.wait(), self._every_s)

    @property
    def age_s(self) -> float:
        """How old what is known may be."""
        return 0.0 if self._known_since is None else self._clock() - self._known_since

    def _is_unknown(self, tenant: UUID) -> bool:
        return self._known_since is None or tenant in self._unseen

    async def _ask_anew(self) -> None:
        """Wait for a question that begins after this moment."""
        wanted = self._begun + 1
        self._wanted.set()
        try:
            async with asyncio.timeout(self._wait_s), self._answered:
                await self._answered.wait_for(lambda: self._ended >= wanted)
        except TimeoutError as error:
            raise ModerationUnavailable("which rules are in force was not told in time") from error

    async def _ask(self) -> bool:
        asked = self._clock()
        try:
            rules = await self._source.everywhere()
        except RecordsUnavailable:
            self.failures += 1
            return False
        self._known_since = asked
        self._unseen = {tenant: begun for tenant, begun in self._unseen.items() if begun >= self._begun}
        if rules != self._rules:
            self._rules = rules
            self.news()
        return True
