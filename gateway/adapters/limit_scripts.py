"""The scripts of limits in Redis: one call each, within a time limit. The layout of the keys stands in lua/limits.lua.

They take several keys at once, which one Redis with its replicas allows and a Redis Cluster does not.
"""

from collections.abc import Callable, Sequence
from uuid import UUID

from redis.asyncio import Redis
from redis.exceptions import RedisError

from gateway.adapters.lua_script import lua_script
from gateway.adapters.patience import patience
from gateway.domain.limit_book import Limit, Verdict, account_of
from gateway.domain.limits import Claim, SeatClaim, Spent
from gateway.domain.quotas import quotas_of, spent_costs
from gateway.errors import LimitsUnavailable

Value = str | int
Renewal = tuple[str, Claim]

_NONE = -1
_NAMES = ("admit", "settle", "renew", "seat", "unseat")


class LimitScripts:
    """Needs Redis 6.2 or newer; every call raises `LimitsUnavailable` when Redis is away."""

    def __init__(
        self,
        *,
        client: Redis,
        lease_s: float,
        seat_s: float,
        timeout_s: float = 0.5,
        clock_us: Callable[[], int] | None = None,
    ) -> None:
        """`clock_us` None: the one of Redis, which is the same for all processes."""
        self.lease_us, self.seat_us = round(lease_s * 1_000_000), round(seat_s * 1_000_000)
        self._timeout_s = timeout_s
        self._clock_us = clock_us
        self._scripts = {name: lua_script(client, "limits", name) for name in _NAMES}

    async def admit(self, holder: str, claim: Claim) -> Verdict:
        limits, drill = claim.limits, claim.drill_limits
        arguments: list[Value] = [holder, str(claim.session or ""), self.lease_us, self.seat_us]
        arguments += [_or_none(limit) for limit in (limits.turns_in_flight, drill.turns_in_flight, drill.seats)]
        arguments.append(drill.walk_ins)
        for quota in quotas_of(claim):
            arguments += [quota.name, quota.cost_us, quota.depth_us]
        match await self._run("admit", _keys(holder, claim), [self._now(), *arguments]):
            case [bytes(refused_by), int(wait_us), *backlogs]:
                found = tuple(backlog for backlog in backlogs if isinstance(backlog, int))
                return Verdict(Limit(refused_by.decode()) if refused_by else None, wait_us, found)
            case _:
                raise LimitsUnavailable("a verdict came back in an unknown shape")

    async def settle(self, holder: str, claim: Claim, spent: Spent | None) -> bool:
        """Whether there was anything to give; None: the claim is given back as if it had never been."""
        quotas = quotas_of(claim)
        arguments: list[Value] = [self._now(), holder, str(claim.session or ""), self.lease_us, int(spent is None)]
        for quota, cost in zip(quotas, spent_costs(quotas, spent), strict=True):
            arguments += [quota.name, cost]
        return await self._run("settle", _keys(holder, claim), arguments) == 1

    async def renew(self, held: Sequence[Renewal]) -> list[bool]:
        """For each whether everything was still its holder's."""
        keys: list[str] = []
        for holder, claim in held:
            claim_key, _, running, turn, drill, *_ = _keys(holder, claim)
            keys += [claim_key, running, drill, turn]
        arguments = [self._now(), self.lease_us, *(holder for holder, _ in held)]
        match await self._run("renew", keys, arguments):
            case [*kept] if len(kept) == len(held):
                return [one == 1 for one in kept]
            case _:
                raise LimitsUnavailable("renewals came back in an unknown shape")

    async def seat(self, claim: SeatClaim) -> Verdict:
        drill = claim.drill_limits
        arguments = [self._now(), str(claim.session), self.seat_us]
        arguments += [_or_none(claim.limits.sessions), _or_none(drill.seats), drill.walk_ins]
        keys = [_sessions(claim.tenant), *(_places(claim.drill) if claim.drill else ("", ""))]
        match await self._run("seat", keys, arguments):
            case bytes(refused_by):
                return Verdict(Limit(refused_by.decode()) if refused_by else None)
            case _:
                raise LimitsUnavailable("a seat came back in an unknown shape")

    async def unseat(self, tenant: UUID, drill: UUID | None, session: UUID) -> None:
        await self._run("unseat", [_sessions(tenant), *(_places(drill) if drill else ())], [str(session)])

    async def _run(self, name: str, keys: Sequence[str], arguments: Sequence[Value]) -> object:
        # The client retries and waits as its owner set it up; a turn waits only so long.
        try:
            async with patience(self._timeout_s):
                answer: object = await self._scripts[name](keys=list(keys), args=list(arguments))
        except TimeoutError as error:
            raise LimitsUnavailable(f"Redis gave no answer within {self._timeout_s:g} s") from error
        except (RedisError, OSError) as error:
            raise LimitsUnavailable(type(error).__name__) from error
        return answer

    def _now(self) -> Value:
        return "" if self._clock_us is None else self._clock_us()


def _keys(holder: str, claim: Claim) -> list[str]:
    """Those of admit.lua and settle.lua; an absent one is empty."""
    account = account_of(claim)
    return [
        f"dy:lim:claim:{holder}",
        f"dy:lim:rates:{account}",
        f"dy:lim:running:{account}",
        f"dy:turn:{claim.session}" if claim.session else "",
        f"dy:lim:drill:{claim.drill}" if claim.drill else "",
        *(_places(claim.drill) if claim.drill else ("", "")),
        _sessions(claim.tenant) if claim.session else "",
    ]


def _places(drill: UUID) -> tuple[str, str]:
    return f"dy:lim:seats:{drill}", f"dy:lim:walkins:{drill}"


def _sessions(tenant: UUID) -> str:
    return f"dy:lim:sessions:{tenant}"


def _or_none(limit: int | None) -> int:
    return _NONE if limit is None else limit
