import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from typing_extensions import override

from gateway.access_ports import KeySource, PublishedKeys
from gateway.adapters.jwks import JwksKeys
from gateway.domain.token_text import WrittenToken, read_token
from gateway.errors import KeySetUnavailable, SignInUnavailable, TokenInvalid
from gateway.issuer_keys import IssuerKeys, RefreshTimes
from gateway.wiring.background import background
from tests.support.eventually import eventually
from tests.support.identity_provider import SigningKey, ec_key, ed_key, signed

TIMES = RefreshTimes(interval_s=0.02, cooldown_s=30, stale_s=100, patience_s=0.2)
SLOW = RefreshTimes(interval_s=3600, cooldown_s=30, stale_s=100, patience_s=0.2)


class Source(KeySource):
    """Publishes `keys`, or fails as told; `asked` times so far."""

    def __init__(self, *keys: SigningKey) -> None:
        self.keys = keys
        self.trouble: Exception | None = None
        self.hangs: asyncio.Event | None = None
        self.asked = 0

    @override
    async def fetch(self) -> PublishedKeys:
        self.asked += 1
        keys = self.keys
        if self.hangs is not None:
            await self.hangs.wait()
        if self.trouble is not None:
            raise self.trouble
        return JwksKeys({"keys": [key.as_dict(private=False) for key in keys]})


class Ticks:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def kept(source: Source, ticks: Ticks, times: RefreshTimes = SLOW) -> AsyncIterator[IssuerKeys]:
    keys = IssuerKeys(issuer="https://id.example", source=source, times=times, ticks=ticks)
    async with background(keys.keep()):
        await eventually(lambda: source.asked > 0)
        yield keys


def by(key: SigningKey, kid: str | None = None) -> WrittenToken:
    return read_token(signed({"kid": kid or key.kid}, {"sub": "u"}, key))


async def test_a_token_of_a_known_key_asks_nobody() -> None:
    source = Source(ec_key())
    async with kept(source, Ticks()) as keys:
        for _ in range(3):
            await keys.check(by(ec_key()))
        with pytest.raises(TokenInvalid):
            await keys.check(by(ec_key("other"), kid="ec"))
    assert source.asked == 1


async def test_a_new_key_is_fetched_when_its_first_token_comes() -> None:
    source, ticks = Source(ec_key()), Ticks()
    async with kept(source, ticks) as keys:
        await keys.check(by(ec_key()))
        source.keys = (ec_key(), ed_key())
        ticks.now += 31
        await keys.check(by(ed_key()))
        await keys.check(by(ec_key()))
    assert source.asked == 2


async def test_a_key_that_is_taken_back_is_refused_after_the_next_round() -> None:
    source = Source(ec_key(), ed_key())
    async with kept(source, Ticks(), TIMES) as keys:
        await keys.check(by(ed_key()))
        before = keys.version
        source.keys = (ec_key(),)
        await eventually(lambda: keys.version > before)
        with pytest.raises(TokenInvalid):
            await keys.check(by(ed_key()))
        await keys.check(by(ec_key()))


async def test_a_flood_of_made_up_keys_costs_one_fetch_in_a_cooldown() -> None:
    source, ticks = Source(ec_key()), Ticks()
    async with kept(source, ticks) as keys:
        for round_ in range(3):
            ticks.now += 31
            flood = [keys.check(by(ed_key(), kid=f"made-up-{round_}-{number}")) for number in range(200)]
            refused = await asyncio.gather(*flood, return_exceptions=True)
            assert {type(one) for one in refused} == {TokenInvalid}
            await keys.check(by(ec_key()))
    assert source.asked == 4
    assert keys.fetches == 4


async def test_the_cooldown_holds_after_a_failed_fetch_too() -> None:
    source, ticks = Source(ec_key()), Ticks()
    async with kept(source, ticks) as keys:
        await keys.check(by(ec_key()))
        source.trouble = KeySetUnavailable("down")
        ticks.now += 31
        for number in range(50):
            with pytest.raises(TokenInvalid):
                await keys.check(by(ed_key(), kid=f"made-up-{number}"))
        assert source.asked == 2
        await keys.check(by(ec_key()))
        assert keys.trouble == "down"


async def test_a_key_that_was_looked_for_in_vain_is_not_looked_for_again_soon() -> None:
    source, ticks = Source(ec_key()), Ticks()
    async with kept(source, ticks) as keys:
        for passed in (31, 31):
            ticks.now += passed
            with pytest.raises(TokenInvalid):
                await keys.check(by(ed_key()))
        assert source.asked == 2
        source.keys = (ed_key(),)
        ticks.now += 31
        await keys.check(by(ed_key()))


async def test_many_who_wait_for_the_same_round_get_its_keys() -> None:
    source, ticks = Source(ec_key()), Ticks()
    async with kept(source, ticks) as keys:
        await keys.check(by(ec_key()))
        source.keys, source.hangs = (ed_key(),), asyncio.Event()
        ticks.now += 31
        waiting = [asyncio.create_task(keys.check(by(ed_key()))) for _ in range(20)]
        await eventually(lambda: source.asked == 2)
        await keys.check(by(ec_key()))  # nobody else waits for it
        source.hangs.set()
        await asyncio.gather(*waiting)
    assert source.asked == 2


async def test_known_keys_go_on_while_the_issuer_is_away_for_so_long() -> None:
    source, ticks = Source(ec_key()), Ticks()
    async with kept(source, ticks) as keys:
        await keys.check(by(ec_key()))
        source.trouble = KeySetUnavailable("down")
        ticks.now += 100
        await keys.check(by(ec_key()))
        ticks.now += 0.5
        with pytest.raises(SignInUnavailable) as caught:
            await keys.check(by(ec_key()))
        assert caught.value.retry_after_s == 30
        with pytest.raises(SignInUnavailable):
            await keys.check(by(ec_key()))
        assert source.asked == 2
        source.trouble = None
        ticks.now += 31
        await keys.check(by(ec_key()))


async def test_without_an_issuer_at_the_start_sign_in_waits_for_it() -> None:
    source, ticks = Source(ec_key()), Ticks()
    source.hangs = asyncio.Event()
    async with kept(source, ticks) as keys:
        with pytest.raises(SignInUnavailable):
            await keys.check(by(ec_key()))
        assert keys.trouble == "no answer within 0.2 s"
        assert keys.age_s is None
        source.hangs = None
        ticks.now += 31
        await keys.check(by(ec_key()))
        assert keys.failures == 1
        assert keys.age_s == 0


async def test_a_fault_of_ours_in_reading_keys_is_a_failure_like_another() -> None:
    source, ticks = Source(ec_key()), Ticks()
    source.trouble = ZeroDivisionError()
    async with kept(source, ticks) as keys:
        with pytest.raises(SignInUnavailable):
            await keys.check(by(ec_key()))
        source.trouble = None
        ticks.now += 31
        await keys.check(by(ec_key()))


async def test_after_a_failure_it_is_tried_again_by_itself() -> None:
    source = Source(ec_key())
    source.trouble = KeySetUnavailable("down")
    async with kept(source, Ticks(), RefreshTimes(interval_s=3600, cooldown_s=0.02, stale_s=100)) as keys:
        await eventually(lambda: source.asked > 2)
        source.trouble = None
        await eventually(lambda: keys.trouble is None)
    assert keys.version == 1
