"""The scripts of limits in Redis are the twins of the arithmetic: the same answers and the same state, step by step."""

import asyncio
import time
from dataclasses import dataclass, field
from statistics import median
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from redis import Redis as BlockingRedis
from redis.asyncio import Redis
from typing_extensions import override

from gateway.adapters.limit_scripts import LimitScripts
from gateway.domain.limit_book import Limit, LimitBook, Verdict
from gateway.domain.limits import AccountLimits, Claim, DrillLimits, SeatClaim, Spent, TenantLimits
from gateway.domain.quotas import HORIZON_US
from gateway.local.redis_server import RedisServer
from tests.support.limit_claims import SECOND_US, turn_of
from tests.support.redis_fixture import redis_client_of

pytestmark = pytest.mark.redis

LEASE_S, SEAT_S = 40, 300
START_US = 1_795_000_000 * SECOND_US
# A turn lease is a key of Redis, which lives by the real clock: nearer to its end than this it is ended in both.
TOO_NEAR_US = 8 * SECOND_US

TENANTS, ACCOUNTS, DRILLS, SESSIONS = (
    [UUID(int=100 * kind + number) for number in range(count)] for kind, count in ((1, 2), (2, 1), (3, 2), (4, 4))
)
limits = st.sampled_from([1, 7, 60, 1_000, 12_000, 2_000_000_000, None])
few = st.sampled_from([None, 3, 2, 1, 0])
account_limits = st.builds(
    AccountLimits,
    requests_per_minute=limits,
    request_burst=limits,
    input_tokens_per_minute=limits,
    output_tokens_per_minute=limits,
    turns_in_flight=few,
)
drill_limits = st.builds(DrillLimits, seats=few, walk_ins=st.integers(0, 2), turns_in_flight=few)
tokens = st.sampled_from([0, 1, 13, 400, 5_000, 50_000_000])
claims = st.builds(
    Claim,
    tenant=st.sampled_from(TENANTS),
    account=st.sampled_from(ACCOUNTS),
    limits=account_limits,
    input_tokens=tokens,
    output_tokens=tokens,
    session=st.sampled_from([*SESSIONS, None]),
    drill=st.sampled_from([*DRILLS, None]),
    drill_limits=drill_limits,
)
# One account that is always at work, so that its buckets are neither empty nor full.
requests = st.builds(
    Claim,
    tenant=st.just(TENANTS[0]),
    account=st.just(ACCOUNTS[0]),
    limits=st.just(AccountLimits(requests_per_minute=7, input_tokens_per_minute=1_000, output_tokens_per_minute=1_000)),
    input_tokens=st.sampled_from([13, 150]),
    output_tokens=st.sampled_from([13, 150]),
)
seat_claims = st.builds(
    SeatClaim,
    tenant=st.sampled_from(TENANTS),
    session=st.sampled_from(SESSIONS),
    limits=st.builds(TenantLimits, few),
    drill=st.sampled_from([*DRILLS, None]),
    drill_limits=drill_limits,
)
spent = st.builds(Spent, tokens, tokens) | st.none()
steps_us = st.sampled_from([1, 999_999, 3_000_001, 17 * SECOND_US, LEASE_S * SECOND_US, SEAT_S * SECOND_US])
jumps_us = st.sampled_from([-4_000, -500, -250, -60, -30, -1, 60, 4_000]).map(lambda seconds: seconds * SECOND_US)


@dataclass
class Clock:
    at: int = START_US

    def __call__(self) -> int:
        return self.at


@dataclass
class Claimed:
    holder: str
    claim: Claim = field(repr=False)


class Twins(RuleBasedStateMachine):
    url = ""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.book = LimitBook(lease_us=LEASE_S * SECOND_US, seat_us=SEAT_S * SECOND_US)
        self.loop = asyncio.Runner()
        self.client = redis_client_of(self.url)
        self.scripts = LimitScripts(
            client=self.client, lease_s=LEASE_S, seat_s=SEAT_S, timeout_s=20, clock_us=self.clock
        )
        self.redis = BlockingRedis.from_url(self.url, decode_responses=True)
        self.claimed: list[Claimed] = []
        self.steps = 0

    @override
    def teardown(self) -> None:
        self.loop.run(self.client.aclose())
        self.loop.close()
        self.redis.close()

    @initialize()
    def nothing_is_there(self) -> None:
        self.redis.flushall()

    @rule(claim=claims)
    def admit(self, claim: Claim) -> None:
        self._admit_new(claim)

    @rule(claim=requests)
    def admit_a_request(self, claim: Claim) -> None:
        self._admit_new(claim)

    @precondition(lambda self: self.claimed)
    @rule(draw=st.data())
    def admit_again(self, draw: st.DataObject) -> None:
        """A client asks a second time when it lost the answer, or what it sent arrives late."""
        self._admit(draw.draw(st.sampled_from(self.claimed)))

    @precondition(lambda self: self.claimed)
    @rule(draw=st.data(), spent=spent)
    def settle(self, draw: st.DataObject, spent: Spent | None) -> None:
        one = draw.draw(st.sampled_from(self.claimed))
        found = self.loop.run(self.scripts.settle(one.holder, one.claim, spent))
        assert found == self.book.settle(one.holder, one.claim, spent, self.clock())

    @precondition(lambda self: self.claimed)
    @rule(draw=st.data())
    def renew(self, draw: st.DataObject) -> None:
        some = draw.draw(st.lists(st.sampled_from(self.claimed), min_size=1, max_size=4))
        found = self.loop.run(self.scripts.renew([(one.holder, one.claim) for one in some]))
        assert found == [self.book.renew(one.holder, one.claim, self.clock()) for one in some]

    @rule(claim=seat_claims)
    def seat(self, claim: SeatClaim) -> None:
        assert self.loop.run(self.scripts.seat(claim)) == self.book.seat(claim, self.clock())

    @rule(claim=seat_claims)
    def unseat(self, claim: SeatClaim) -> None:
        self.loop.run(self.scripts.unseat(claim.tenant, claim.drill, claim.session))
        self.book.unseat(claim.tenant, claim.drill, claim.session)

    @rule(by_us=steps_us)
    def time_passes(self, by_us: int) -> None:
        self._move(by_us)

    @rule(by_us=jumps_us)
    def the_clock_jumps(self, by_us: int) -> None:
        self._move(by_us)

    @precondition(lambda self: self.steps > 15)
    @rule()
    def everything_is_lost(self) -> None:
        self.redis.flushall()
        self.book = LimitBook(lease_us=self.book.lease_us, seat_us=self.book.seat_us)
        self.steps = 0
        self.claimed.clear()

    @invariant()
    def the_state_is_the_same(self) -> None:
        book, kept = self.book, self._kept()
        for kind, part in (
            ("rates", book.rates),
            ("running", book.running),
            ("drill", book.drills),
            ("seats", book.seats),
            ("walkins", book.walk_ins),
            ("sessions", book.tenants),
        ):
            expected = {f"dy:lim:{kind}:{name}": entries for name, entries in part.items() if entries}
            assert {key: held for key, held in kept.items() if key.startswith(f"dy:lim:{kind}:")} == expected
        over = {f"dy:lim:claim:{holder}": taken is None for holder, taken in book.claims.items()}
        assert {key: "over" in held for key, held in kept.items() if key.startswith("dy:lim:claim:")} == over
        turns = {f"dy:turn:{session}": {owner: 1} for session, (owner, _) in book.turns.items()}
        assert {key: held for key, held in kept.items() if key.startswith("dy:turn:")} == turns

    def _admit_new(self, claim: Claim) -> None:
        self.steps += 1
        self._admit(Claimed(f"holder-{self.steps}", claim))

    def _admit(self, one: Claimed) -> None:
        before = self._dump()
        found = self.loop.run(self.scripts.admit(one.holder, one.claim))
        expected = self.book.admit(one.holder, one.claim, self.clock())
        if expected.refused_by is Limit.SESSION:
            found = Verdict(found.refused_by, expected.wait_us, found.backlogs)  # told by the real clock
        assert found == expected
        assert all(0 <= backlog <= HORIZON_US for backlog in found.backlogs)
        assert found.wait_us <= max(HORIZON_US, 2 * self.book.lease_us)
        if expected.refused_by is None:
            self.claimed.append(one)
        else:
            assert self._dump() == before

    def _move(self, by_us: int) -> None:
        self.clock.at += by_us
        for session, (_, until) in list(self.book.turns.items()):
            left = until - self.clock.at
            if left < TOO_NEAR_US or abs(left - 2 * self.book.lease_us) < TOO_NEAR_US:
                del self.book.turns[session]
                self.redis.delete(f"dy:turn:{session}")
            else:
                self.redis.pexpire(f"dy:turn:{session}", left // 1_000)

    def _dump(self) -> dict[bytes, object]:
        with BlockingRedis.from_url(self.url) as raw:
            return {bytes(key): raw.dump(key) for key in raw.scan_iter("*")}

    def _kept(self) -> dict[str, dict[str, int | str]]:
        """Everything in Redis; nothing of it stays for ever."""
        keys = sorted(str(key) for key in self.redis.keys("*"))
        with self.redis.pipeline(transaction=False) as reading:
            for key in keys:
                if key.startswith("dy:turn:"):
                    reading.get(key)
                elif key.startswith(("dy:lim:claim:", "dy:lim:rates:")):
                    reading.hgetall(key)
                else:
                    reading.zrange(key, 0, -1, withscores=True)
                reading.pttl(key)
            found = reading.execute()
        assert all(left > 0 for left in found[1::2])
        return {key: _entries(key, held) for key, held in zip(keys, found[::2], strict=True)}


def _entries(key: str, held: Any) -> dict[str, int | str]:
    if isinstance(held, str):
        return {held: 1}
    if key.startswith("dy:lim:claim:"):
        return dict(held)
    return {name: int(number) for name, number in (held.items() if isinstance(held, dict) else held)}


def test_the_scripts_answer_and_keep_what_the_arithmetic_says(running_redis: RedisServer) -> None:
    class OnThisRedis(Twins):
        url = running_redis.url

    run_state_machine_as_test(
        OnThisRedis,
        settings=settings(
            max_examples=30, stateful_step_count=50, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


async def test_a_claim_costs_a_small_multiple_of_the_way_to_redis(redis_client: Redis) -> None:
    """With `-s` it tells the figures of docs/benchmarks.md; whoever else uses the cores slows down both alike."""
    scripts = LimitScripts(client=redis_client, lease_s=60, seat_s=600, timeout_s=20)
    every = AccountLimits(
        requests_per_minute=60_000, input_tokens_per_minute=10**9, output_tokens_per_minute=10**9, turns_in_flight=9_999
    )
    drill = DrillLimits(seats=9_999, walk_ins=1, turns_in_flight=9_999)
    pings, admits, settles = list[float](), list[float](), list[float]()
    for number in range(300):
        claim = turn_of(UUID(int=number), every, drill=DRILLS[0], drill_limits=drill, tokens=(900, 200))
        began = time.perf_counter()
        await redis_client.ping()
        pinged = time.perf_counter()
        verdict = await scripts.admit(str(number), claim)
        admitted = time.perf_counter()
        await scripts.settle(str(number), claim, Spent(905, 120))
        settles.append(time.perf_counter() - admitted)
        pings.append(pinged - began)
        admits.append(admitted - pinged)
        assert verdict.refused_by is None
    ping, admit, settle = (median(times) * 1e6 for times in (pings, admits, settles))
    print(f"median us: ping {ping:.0f}, admit {admit:.0f}, settle {settle:.0f}")  # noqa: T201 - it is a measurement
    assert max(min(admits), min(settles)) < 20 * min(pings)
