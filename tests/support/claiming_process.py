"""A process of its own that claims, as one of several gateways would.

Its arguments: the address of Redis, how many claims, and how long a lease is. It says `ready`, waits for a line, tells
how many of its claims were let in, and holds them until its input ends.
"""

import asyncio
import sys
from contextlib import AsyncExitStack

from gateway.adapters.limit_scripts import LimitScripts
from gateway.adapters.redis_limits import RedisGate
from gateway.domain.limits import AccountLimits
from gateway.limit_ports import Gate
from tests.support.limit_claims import turn_of
from tests.support.redis_fixture import redis_client_of

LIMITS = AccountLimits(requests_per_minute=60, request_burst=60, turns_in_flight=50)


async def _claims(gate: Gate, count: int) -> None:
    async with AsyncExitStack() as held:
        asked = (held.enter_async_context(gate.admit(turn_of(None, LIMITS))) for _ in range(count))
        answers = await asyncio.gather(*asked, return_exceptions=True)
        _say(str(sum(not isinstance(answer, BaseException) for answer in answers)))
        await asyncio.to_thread(sys.stdin.readline)


async def _main(url: str, count: str, lease_s: str) -> None:
    client = redis_client_of(url)
    async with RedisGate(LimitScripts(client=client, lease_s=float(lease_s), seat_s=600, timeout_s=20)) as gate:
        await client.ping()
        _say("ready")
        await asyncio.to_thread(sys.stdin.readline)
        await _claims(gate, int(count))
    await client.aclose()


def _say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
