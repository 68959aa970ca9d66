from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from typing_extensions import override

from gateway.access_ports import KeySource, PublishedKeys
from gateway.access_settings import IssuerSettings
from gateway.adapters.jwks import JwksKeys
from gateway.adapters.memory_accounts import MemoryAccounts
from gateway.domain.access import Role
from gateway.errors import KeysUnavailable, NotEnrolled, TokenInvalid
from gateway.issuer_keys import IssuerKeys, RefreshTimes
from gateway.token_sign_in import Issuer, TokenSignIn
from gateway.wiring.background import background
from tests.support.eventually import eventually
from tests.support.identity_provider import SigningKey, ec_key, ed_key, rsa_key, signed
from tests.support.token_forge import token as forged

ISSUER = "https://id.example"
NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)


class CountedAccounts(MemoryAccounts):
    """Counts how often a person is looked for, and goes away when told to."""

    asked = 0
    away = False

    @override
    async def person(self, tenant: UUID, name: str, role: Role, display_name: str | None, *, at: datetime) -> UUID:
        self.asked += 1
        if self.away:
            raise KeysUnavailable("no database")
        return await super().person(tenant, name, role, display_name, at=at)


class Published(KeySource):
    keys: tuple[SigningKey, ...] = ()

    @override
    async def fetch(self) -> PublishedKeys:
        return JwksKeys({"keys": [key.as_dict(private=False) for key in self.keys]})


@dataclass
class Door:
    """Sign-in with one issuer, at a moment that the test moves on."""

    accounts: CountedAccounts
    source: Published
    keys: IssuerKeys
    tenant: UUID
    now: datetime = NOW

    def sign_in(self, *, create_tenants: bool = False, cache_s: float = 30.0) -> TokenSignIn:
        rules = IssuerSettings(issuer=ISSUER, audience="drillyard").rules
        return TokenSignIn(
            issuers=[Issuer(rules, self.keys)],
            accounts=self.accounts,
            create_tenants=create_tenants,
            cache_s=cache_s,
            clock=lambda: self.now,
        )

    def token(self, key: SigningKey | None = None, **claims: Any) -> str:
        signer = key or ec_key()
        usual = {"iss": ISSUER, "aud": "drillyard", "sub": "u-7", "tenant": "acme", "roles": ["trainee"]}
        return signed({"kid": signer.kid}, {**usual, "exp": self.now.timestamp() + 300, **claims}, signer)


@pytest.fixture
async def door() -> AsyncIterator[Door]:
    accounts, source = CountedAccounts(), Published()
    source.keys = (ec_key(), ed_key())
    tenant = await accounts.tenant("acme", name="Acme", at=NOW)
    times = RefreshTimes(interval_s=0.02, cooldown_s=30)
    keys = IssuerKeys(issuer=ISSUER, source=source, times=times, ticks=lambda: 1000.0)
    async with background(keys.keep()):
        await eventually(lambda: keys.version > 0)
        yield Door(accounts, source, keys, tenant)


async def test_whoever_signs_in_is_one_account_of_the_tenant(door: Door) -> None:
    sign_in = door.sign_in()
    first = await sign_in.principal(door.token())
    assert (first.tenant, first.role, first.scopes) == (door.tenant, Role.TRAINEE, None)
    assert await sign_in.principal(door.token(ed_key(), exp=door.now.timestamp() + 60)) == first
    assert (await sign_in.principal(door.token(sub="u-8"))).account != first.account


async def test_the_token_says_which_roles_count(door: Door) -> None:
    sign_in = door.sign_in()
    trainee = await sign_in.principal(door.token())
    both = await sign_in.principal(door.token(roles=["trainee", "instructor", "unknown"]))
    assert both.account == trainee.account
    assert both.role is Role.INSTRUCTOR
    assert both.roles == frozenset({Role.INSTRUCTOR, Role.TRAINEE})


async def test_a_token_found_good_is_remembered_and_its_account_too(door: Door) -> None:
    sign_in, token = door.sign_in(), door.token()
    first = await sign_in.principal(token)
    door.accounts.away = True
    assert await sign_in.principal(token) == first
    assert await sign_in.principal(door.token(ed_key())) == first
    assert door.accounts.asked == 1
    with pytest.raises(KeysUnavailable):
        await sign_in.principal(door.token(sub="u-8"))


async def test_a_remembered_token_ends_when_it_says(door: Door) -> None:
    sign_in, token = door.sign_in(cache_s=300), door.token(exp=NOW.timestamp() + 10)
    await sign_in.principal(token)
    door.now = NOW + timedelta(seconds=39)
    await sign_in.principal(token)
    door.now = NOW + timedelta(seconds=40)
    with pytest.raises(TokenInvalid):
        await sign_in.principal(token)


async def test_a_key_that_is_taken_back_ends_remembered_tokens_too(door: Door) -> None:
    sign_in, token = door.sign_in(cache_s=300), door.token(ed_key())
    await sign_in.principal(token)
    door.source.keys = (ec_key(),)
    await eventually(lambda: door.keys.version > 1)
    with pytest.raises(TokenInvalid):
        await sign_in.principal(token)


@pytest.mark.parametrize(
    "claims",
    [{"aud": "other"}, {"exp": NOW.timestamp() - 31}, {"nbf": NOW.timestamp() + 60}, {"sub": None}],
    ids=str,
)
async def test_a_token_that_does_not_count_is_refused_and_counted(door: Door, claims: dict[str, Any]) -> None:
    sign_in = door.sign_in()
    for _ in range(2):
        with pytest.raises(TokenInvalid, match=r"^the token is not valid$"):
            await sign_in.principal(door.token(**claims))
    assert sign_in.refused == 2
    assert door.accounts.asked == 0


async def test_what_is_forged_is_refused_whatever_it_says(door: Door) -> None:
    sign_in = door.sign_in()
    claims = {"iss": ISSUER, "aud": "drillyard", "sub": "root", "tenant": "acme", "roles": ["operator"]}
    headers: list[dict[str, object]] = [
        {"alg": "none"},
        {"alg": "HS256", "kid": "ec"},
        {"alg": "PS256", "kid": "ec"},
        {"alg": "ES256", "kid": "ec"},
        {"alg": "ES256", "kid": "unknown"},
        {"alg": "ES256"},
        {"alg": "dir", "enc": "A256GCM"},
        {"alg": "ES256", "jku": "http://127.0.0.1:1/", "kid": "ec"},
    ]
    tokens = [forged(header, {**claims, "exp": NOW.timestamp() + 300}) for header in headers]
    tokens += [
        door.token(rsa_key()),
        door.token(ec_key("another"), iss="https://evil.example"),
        door.token(iss=[ISSUER]),
        door.token(roles=["operator"]).rpartition(".")[0] + "." + door.token().rpartition(".")[2],
        "a.b.c",
        ".",
        "x" * 10_000 + ".y.z",
    ]
    for token in tokens:
        with pytest.raises(TokenInvalid):
            await sign_in.principal(token)
    assert door.accounts.asked == 0


async def test_a_signature_comes_before_what_a_token_says(door: Door) -> None:
    """Who cannot sign must not learn which tenants there are."""
    with pytest.raises(TokenInvalid):
        await door.sign_in().principal(door.token(ec_key("stranger"), tenant="nobody"))


@pytest.mark.parametrize(
    "claims",
    [{"tenant": "nobody"}, {"tenant": str(uuid4())}, {"tenant": None}, {"roles": []}],
    ids=["a", "b", "c", "d"],
)
async def test_a_good_token_needs_a_known_tenant_and_a_role(door: Door, claims: dict[str, Any]) -> None:
    with pytest.raises(NotEnrolled):
        await door.sign_in().principal(door.token(**claims))


async def test_a_tenant_may_be_named_by_its_id_and_made_where_that_is_wanted(door: Door) -> None:
    assert (await door.sign_in().principal(door.token(tenant=str(door.tenant)))).tenant == door.tenant
    made = await door.sign_in(create_tenants=True).principal(door.token(tenant="globex"))
    assert made.tenant == await door.accounts.tenant_id("globex")


async def test_without_issuers_no_token_counts(door: Door) -> None:
    nobody = TokenSignIn(issuers=(), accounts=door.accounts, create_tenants=False, cache_s=30, clock=lambda: door.now)
    with pytest.raises(TokenInvalid):
        await nobody.principal(door.token())


async def test_an_algorithm_that_is_not_pinned_does_not_count(door: Door) -> None:
    rules = replace(IssuerSettings(issuer=ISSUER, audience="drillyard").rules, algorithms=frozenset({"RS256"}))
    strict = TokenSignIn(
        issuers=[Issuer(rules, door.keys)],
        accounts=door.accounts,
        create_tenants=False,
        cache_s=30,
        clock=lambda: door.now,
    )
    with pytest.raises(TokenInvalid):
        await strict.principal(door.token())
