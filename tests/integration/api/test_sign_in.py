"""Signing in by tokens over real HTTP: a real identity provider, real Postgres, real Redis."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from redis.asyncio import Redis
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine
from structlog.testing import capture_logs

from gateway.adapters.postgres_accounts import PostgresAccounts
from gateway.domain.access import Role, new_key
from gateway.services import Readiness
from gateway.settings import Settings
from gateway.wiring.access import Entrance, entrance
from gateway.wiring.clock import SystemClock
from tests.integration.api.house import House, house, until
from tests.support.identity_provider import (
    DISCOVERY,
    KEYS,
    IdentityProvider,
    Mood,
    ec_key,
    ed_key,
    identity_provider,
    rsa_key,
)
from tests.support.token_forge import token as forged

pytestmark = [pytest.mark.postgres, pytest.mark.redis]

COOLDOWN_S = 0.05
TIMES = {"keys_interval_s": 3600, "keys_cooldown_s": COOLDOWN_S, "keys_timeout_s": 0.3}


@dataclass
class Installation:
    provider: IdentityProvider
    door: Entrance
    house: House
    engine: AsyncEngine

    async def get(self, token: str | None = None, path: str = "/v1/sessions") -> httpx.Response:
        shown = {} if token is None else {"Authorization": f"Bearer {token}"}
        return await self.house.nobody.get(path, headers=shown)

    async def cooled_down(self, after_s: float = 2 * COOLDOWN_S) -> None:
        """Wait until the provider may be asked again."""
        keys = self.door.issuers[0].keys
        await until(lambda: (keys.age_s or 0.0) > after_s)


@asynccontextmanager
async def installed(
    engine: AsyncEngine, redis: Redis, provider: IdentityProvider, **access: Any
) -> AsyncIterator[Installation]:
    await PostgresAccounts(engine=engine).tenant("acme", name="Acme", at=datetime.now(UTC))
    settings = Settings.model_validate(
        {
            "redis_url": "redis://127.0.0.1:1/0",
            "database_url": "postgresql://127.0.0.1:1/none",
            "model": {"name": "fake", "folder": "/nowhere"},
            "access": {"issuers": [{"issuer": provider.issuer, "audience": "drillyard"}], **TIMES, **access},
        }
    )
    async with AsyncExitStack() as stack:
        door = await stack.enter_async_context(entrance(settings, engine, redis, SystemClock()))
        running = await stack.enter_async_context(house(access=door.access))
        yield Installation(provider, door, running, engine)


@pytest.fixture
async def provider() -> AsyncIterator[IdentityProvider]:
    async with identity_provider() as running:
        running.keys = [ec_key(), rsa_key(), ed_key()]
        yield running


@pytest.fixture
async def here(
    database_engine: AsyncEngine, redis_client: Redis, provider: IdentityProvider
) -> AsyncIterator[Installation]:
    async with installed(database_engine, redis_client, provider) as running:
        yield running


@pytest.mark.parametrize("key", [ec_key, rsa_key, ed_key])
async def test_a_token_of_the_issuer_opens_the_door(here: Installation, key: Any) -> None:
    answer = await here.get(here.provider.token(key(), name="李伟"))
    assert answer.status_code == 200, answer.text
    async with here.engine.connect() as connection:
        found = await connection.execute(text("select role, name, display_name from accounts"))
    name = f"{here.provider.issuer.removeprefix('http://')}|u-7"
    assert found.all() == [("trainee", name, "李伟")]
    assert here.provider.asked == {DISCOVERY: 1, KEYS: 1}


async def test_what_a_token_may_do_is_what_its_roles_may(here: Installation) -> None:
    trainee, operator = here.provider.token(), here.provider.token(sub="boss", roles=["operator"])
    assert (await here.get(operator, "/v1/fleet")).status_code == 200
    refused = await here.get(trainee, "/v1/fleet")
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")


async def test_whatever_is_wrong_with_a_token_the_answer_is_the_same(here: Installation) -> None:
    now, good = time.time(), here.provider.token()
    claims = {"iss": here.provider.issuer, "aud": "drillyard", "sub": "u-7", "exp": now + 300}
    bad = [
        here.provider.token(exp=now - 60),
        here.provider.token(exp=None),
        here.provider.token(nbf=now + 120),
        here.provider.token(aud="another"),
        here.provider.token(aud=None),
        here.provider.token(iss="https://evil.example"),
        here.provider.token(iss=None),
        here.provider.token(sub=None),
        here.provider.token(ec_key("stranger"), header={"kid": "ec"}),
        here.provider.token(ec_key("stranger")),
        here.provider.token(header={"crit": ["b64"], "b64": False}),
        here.provider.token(ec_key("own"), header={"jwk": ec_key("own").as_dict(private=False)}),
        here.provider.token(header={"jku": f"{here.provider.url}/mine"}),
        forged({"alg": "none"}, claims),
        forged({"alg": "HS256", "kid": "rsa"}, claims),
        forged({"alg": "RS256", "kid": "ec"}, claims),
        forged({"alg": "dir", "enc": "A256GCM"}, claims) + ".x.y",
        good[:-4] + "AAAA",
        good.rpartition(".")[0] + ".",
        good + "." + good,
        "a.b.c",
        "x" * 9000 + ".a.b",
        forged({"alg": "ES256", "kid": "k" * 20_000}, claims),
    ]
    with capture_logs() as logged:
        answers = [await here.get(token) for token in bad]
        assert {answer.status_code for answer in answers} == {401}
        assert len({answer.content for answer in answers}) == 1
        challenge = 'Bearer realm="drillyard", error="invalid_token"'
        assert {answer.headers["www-authenticate"] for answer in answers} == {challenge}
        assert (await here.get(good)).status_code == 200
    assert "/mine" not in here.provider.asked
    assert all(token.partition(".")[2] not in str(logged) for token in [*bad, good] if len(token) > 10)
    assert here.door.counters()["tokens_refused"] == len(answers)


async def test_without_a_token_nobody_is_called_wrong(here: Installation) -> None:
    for answer in (await here.get(), await here.get("no-key-and-no-token")):
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == 'Bearer realm="drillyard"'


@pytest.mark.parametrize("claims", [{"tenant": "nobody"}, {"tenant": None}, {"roles": ["janitor"]}], ids=str)
async def test_a_good_token_of_a_stranger_is_not_enrolled(here: Installation, claims: dict[str, Any]) -> None:
    answer = await here.get(here.provider.token(**claims))
    assert (answer.status_code, answer.json()["code"]) == (403, "not_enrolled")


async def test_keys_are_rotated_with_overlap_and_the_old_one_ends(
    database_engine: AsyncEngine, redis_client: Redis, provider: IdentityProvider
) -> None:
    provider.keys = [ec_key()]
    often = {"keys_interval_s": 1, "token_cache_s": 300}
    async with installed(database_engine, redis_client, provider, **often) as here:
        old, new = provider.token(ec_key()), provider.token(ed_key())
        assert (await here.get(old)).status_code == 200
        provider.keys = [ed_key(), ec_key()]
        await until(lambda: here.door.issuers[0].keys.version == 2)
        assert [(await here.get(token)).status_code for token in (old, new)] == [200, 200]
        provider.keys = [ed_key()]
        await until(lambda: here.door.issuers[0].keys.version == 3)
        assert [(await here.get(token)).status_code for token in (old, new)] == [401, 200]


async def test_a_new_key_works_at_once_where_the_cooldown_is_over(here: Installation) -> None:
    assert (await here.get(here.provider.token())).status_code == 200
    here.provider.keys.append(ec_key("new"))
    await here.cooled_down()
    assert (await here.get(here.provider.token(ec_key("new")))).status_code == 200


async def test_a_start_without_the_provider_serves_keys_and_says_so(
    database_engine: AsyncEngine, redis_client: Redis, provider: IdentityProvider
) -> None:
    provider.mood = Mood.DOWN
    async with installed(database_engine, redis_client, provider) as here:
        token = provider.token()
        answer = await here.get(token)
        assert (answer.status_code, answer.json()["code"]) == (503, "sign_in_unavailable")
        assert int(answer.headers["retry-after"]) >= 1
        assert (await here.house.here.trainee.get("/v1/fleet")).status_code == 401  # keys are looked up in Postgres
        provider.mood = Mood.WELL
        await until(lambda: here.door.issuers[0].keys.trouble is None)
        assert (await here.get(token)).status_code == 200


async def test_a_provider_that_is_away_is_shown_and_known_keys_go_on(here: Installation) -> None:
    token = here.provider.token()
    assert (await here.get(token)).status_code == 200
    assert here.door.checks()["sign_in"].ok
    here.provider.mood = Mood.HANGING
    await here.cooled_down()
    assert (await here.get(here.provider.token(ec_key("unknown")))).status_code == 401
    found = Readiness(here.door.checks())
    assert not found.checks["sign_in"].ok
    assert "no answer within 0.3 s" in found.checks["sign_in"].detail
    assert found.ready
    assert (await here.get(here.provider.token(sub="u-9"))).status_code == 200
    assert here.door.gauges()["issuer_keys_age_seconds"] > 0
    assert here.door.counters()["issuer_keys_failures"] >= 1


async def test_the_last_use_of_a_key_is_written_down_in_the_background(here: Installation) -> None:
    store, now = PostgresAccounts(engine=here.engine), datetime.now(UTC)
    tenant = await store.tenant("acme", name="Acme", at=now)
    owner = await store.account(tenant, "kiosk", Role.TRAINEE, at=now)
    made = new_key(owner.principal, dice=secrets.token_bytes)
    await store.add(made.stored, at=now)
    assert (await here.get(made.written)).status_code == 200
    async with asyncio.timeout(10):
        while (await store.find(made.stored.id)) == made.stored:  # noqa: ASYNC110  Postgres tells nobody
            await asyncio.sleep(0.05)
    found = await store.find(made.stored.id)
    assert found is not None
    assert found.last_used_at is not None
    assert found.last_used_at >= now


async def test_a_flood_of_made_up_keys_reaches_the_provider_once_and_holds_nobody_up(
    database_engine: AsyncEngine, redis_client: Redis, provider: IdentityProvider
) -> None:
    async with installed(database_engine, redis_client, provider, keys_timeout_s=60, keys_cooldown_s=1) as here:
        assert (await here.get(provider.token())).status_code == 200
        provider.mood = Mood.HANGING
        await here.cooled_down(1.1)
        made_up = [provider.token(ec_key("stranger"), header={"kid": f"made-up-{n}"}) for n in range(60)]
        flood = asyncio.gather(*(here.get(token) for token in made_up))
        await until(lambda: provider.asked[DISCOVERY] == 2)
        for number in range(5):
            assert (await here.get(provider.token(sub=f"u-{number}"))).status_code == 200
        assert not flood.done()
        provider.mood = Mood.WELL
        provider.goes_on.set()
        assert {answer.status_code for answer in await flood} == {401}
        assert provider.asked[KEYS] <= 3  # whoever came late by more than the cool-down had it asked once more
