"""The guard model that stands behind the rules, where one is set."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx

from gateway.adapters.guard_model import GuardOverHttp
from gateway.domain.moderation.guard_breaker import GuardBreaker
from gateway.guard_calls import GuardCalls
from gateway.guard_settings import GuardSettings, WhenAway
from gateway.guard_stage import GuardedModeration, GuardUse
from gateway.services import Check
from gateway.wiring.background import background
from gateway.wiring.clock import SystemClock
from sessions.moderation_ports import Moderation


@dataclass(frozen=True, slots=True)
class Guarding:
    """A guard, or none."""

    settings: GuardSettings
    calls: GuardCalls | None

    def behind(self, rules: Moderation) -> Moderation:
        if self.calls is None:
            return rules
        wanted = self.settings
        use = GuardUse(wanted.policy, wanted.when_away, wanted.output, wanted.input)
        return GuardedModeration(rules=rules, calls=self.calls, use=use)

    def gauges(self) -> Mapping[str, float]:
        return {} if self.calls is None else self.calls.gauges()

    def counters(self) -> Mapping[str, float]:
        return {} if self.calls is None else self.calls.counters()

    def checks(self) -> Mapping[str, Check]:
        """How the guard fares."""
        return {} if self.calls is None else {"guard": guard_check(self.calls, self.settings.when_away)}


def guard_check(calls: GuardCalls, when_away: WhenAway) -> Check:
    """One that may be away is needed by nobody; without a closed one no turn passes."""
    if not calls.is_away:
        return Check(ok=True, detail="answers, as far as it was asked", needed=False)
    goes_on = "turns are refused" if when_away is WhenAway.CLOSED else "texts go on with a mark"
    return Check(ok=False, detail=f"does not answer; {goes_on}", needed=when_away is WhenAway.CLOSED)


@asynccontextmanager
async def guarding(settings: GuardSettings) -> AsyncIterator[Guarding]:
    if settings.url is None:
        yield Guarding(settings, None)
        return
    key = settings.key
    headers = {} if key is None else {"Authorization": f"Bearer {key.get_secret_value()}"}
    places = httpx.Limits(max_connections=settings.at_once, max_keepalive_connections=settings.at_once)
    # How long it all may take is for the adapter to say, which knows when it was this process that stood still.
    async with httpx.AsyncClient(timeout=None, limits=places, trust_env=False, headers=headers) as client:  # noqa: S113
        model = GuardOverHttp(
            client=client,
            url=str(settings.url),
            model=settings.model,
            timeout_s=settings.timeout_s,
            at_once=settings.at_once,
        )
        breaker = GuardBreaker(pause_s=settings.pause_s)
        calls = GuardCalls(model=model, kind=settings.kind, breaker=breaker, ticks=SystemClock().ticks)
        async with background(calls.look_for_it(every_s=settings.pause_s)):
            yield Guarding(settings, calls)
