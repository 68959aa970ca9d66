"""Who may come in: keys, tokens of the configured issuers, and stream tickets."""

import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx
from redis.asyncio import Redis
from sqlalchemy.ext.asyncio import AsyncEngine
from typing_extensions import override

from gateway.access_ports import KeySource, PublishedKeys
from gateway.access_settings import AccessSettings, IssuerSettings
from gateway.adapters.cached_keys import CachedKeys
from gateway.adapters.jwks import JwksKeys
from gateway.adapters.oidc_http import OidcHttp
from gateway.adapters.postgres_accounts import PostgresAccounts
from gateway.adapters.redis_tickets import RedisTickets
from gateway.domain.issuer_url import is_loopback
from gateway.issuer_keys import IssuerKeys, RefreshTimes
from gateway.key_uses import KeyUses
from gateway.services import Access, Check
from gateway.settings import Settings
from gateway.token_sign_in import Issuer, TokenSignIn
from gateway.wiring.background import background
from sessions.ports import Clock


class _PublishedOverHttp(KeySource):
    def __init__(self, documents: OidcHttp) -> None:
        self._documents = documents

    @override
    async def fetch(self) -> PublishedKeys:
        return JwksKeys(await self._documents.key_set())


@dataclass(frozen=True, slots=True)
class Entrance:
    """What stands at the door, and how it fares."""

    access: Access
    issuers: Sequence[Issuer]
    tokens: TokenSignIn

    def gauges(self) -> Mapping[str, float]:
        ages = [issuer.keys.age_s for issuer in self.issuers]
        known = [age for age in ages if age is not None]
        return {"issuer_keys_age_seconds": max(known)} if known else {}

    def counters(self) -> Mapping[str, float]:
        return {
            "tokens_refused": self.tokens.refused,
            "issuer_keys_fetches": sum(issuer.keys.fetches for issuer in self.issuers),
            "issuer_keys_failures": sum(issuer.keys.failures for issuer in self.issuers),
            "key_uses_lost": self.access.uses.lost,
        }

    def checks(self) -> Mapping[str, Check]:
        """How sign-in fares; nobody is unready without it, since keys go on."""
        return {"sign_in": sign_in_check(self.issuers)} if self.issuers else {}


def sign_in_check(issuers: Sequence[Issuer]) -> Check:
    troubles = [_told(issuer) for issuer in issuers if issuer.keys.trouble is not None]
    if troubles:
        return Check(ok=False, detail="; ".join(troubles), needed=False)
    return Check(ok=True, detail=f"the keys of {len(issuers)} issuers are known", needed=False)


def _told(issuer: Issuer) -> str:
    age_s = issuer.keys.age_s
    known = "none are known" if age_s is None else f"those known are {age_s:.0f} s old"
    return f"the keys of {issuer.rules.issuer} cannot be asked for ({issuer.keys.trouble}); {known}"


@asynccontextmanager
async def entrance(settings: Settings, engine: AsyncEngine, redis: Redis, clock: Clock) -> AsyncIterator[Entrance]:
    wanted, accounts = settings.access, PostgresAccounts(engine=engine)
    uses = KeyUses(ledger=accounts, clock=clock.now)
    async with AsyncExitStack() as stack:
        issuers = [await stack.enter_async_context(_issuer(wanted, one, clock)) for one in wanted.issuers]
        tokens = TokenSignIn(
            issuers=issuers,
            accounts=accounts,
            create_tenants=wanted.create_tenants,
            cache_s=wanted.token_cache_s,
            clock=clock.now,
        )
        access = Access(
            keys=CachedKeys(keys=accounts, ttl_s=settings.key_cache_s, stale_s=settings.key_stale_s, clock=clock.ticks),
            accounts=accounts,
            tokens=tokens,
            tickets=RedisTickets(client=redis),
            uses=uses,
        )
        await stack.enter_async_context(background(uses.keep(), *(issuer.keys.keep() for issuer in issuers)))
        yield Entrance(access, issuers, tokens)


@asynccontextmanager
async def _issuer(wanted: AccessSettings, issuer: IssuerSettings, clock: Clock) -> AsyncIterator[Issuer]:
    times = RefreshTimes(
        interval_s=wanted.keys_interval_s,
        cooldown_s=wanted.keys_cooldown_s,
        stale_s=wanted.keys_stale_s,
        patience_s=wanted.keys_timeout_s,
    )
    # On this machine no proxy stands between, whatever the environment says.
    is_here = is_loopback(urlsplit(issuer.issuer).hostname or "")
    verify = ssl.create_default_context(cafile=wanted.ca_file) if wanted.ca_file else True
    async with httpx.AsyncClient(timeout=wanted.keys_timeout_s, trust_env=not is_here, verify=verify) as client:
        documents = OidcHttp(client=client, issuer=issuer.issuer, keys_url=issuer.jwks_url)
        yield Issuer(
            issuer.rules,
            IssuerKeys(issuer=issuer.issuer, source=_PublishedOverHttp(documents), times=times, ticks=clock.ticks),
        )
