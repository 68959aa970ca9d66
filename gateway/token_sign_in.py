"""From a token to the account it speaks of: signature, claims, tenant, and an account made at first sight."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import structlog
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from gateway.access_ports import SignIn
from gateway.domain.access import Principal, strongest
from gateway.domain.remembered import Remembered
from gateway.domain.token_claims import ClaimRules, Identity, identity
from gateway.domain.token_text import LONGEST_TOKEN, WrittenToken, read_token
from gateway.errors import AccountRefused, NotEnrolled, TokenInvalid
from gateway.issuer_keys import IssuerKeys
from gateway.ports import Accounts

_MOST = 10_000
_ACCOUNT_S = 600.0

_log: FilteringBoundLogger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Issuer:
    rules: ClaimRules
    keys: IssuerKeys


@dataclass(frozen=True, slots=True)
class _Checked:
    """A token found good by keys that have not changed since."""

    issuer: Issuer
    version: int
    principal: Principal


class TokenSignIn(SignIn):
    """A token found good is not checked again for `cache_s`, as long as its issuer's keys stay as they are."""

    def __init__(
        self,
        *,
        issuers: Sequence[Issuer],
        accounts: Accounts,
        create_tenants: bool,
        cache_s: float,
        clock: Callable[[], datetime],
    ) -> None:
        self._issuers = {issuer.rules.issuer: issuer for issuer in issuers}
        self._accounts = accounts
        self._create_tenants = create_tenants
        self._cache_s = cache_s
        self._clock = clock
        self._checked = Remembered[bytes, _Checked](_MOST)
        self._known = Remembered[tuple[str, str | UUID, str | None], tuple[UUID, UUID]](_MOST)
        self.refused = 0

    @override
    async def principal(self, token: str) -> Principal:
        now = self._clock()
        digest = hashlib.sha256(token[: LONGEST_TOKEN + 1].encode()).digest()
        for found in self._checked.get(digest, now=now.timestamp()) or ():
            if found.version == found.issuer.keys.version:
                return found.principal
        try:
            return await self._check(token, digest, now)
        except TokenInvalid as error:
            self.refused += 1
            _log.info("token refused", reason=error.reason)
            raise

    async def _check(self, text: str, digest: bytes, now: datetime) -> Principal:
        token = read_token(text)
        issuer = self._issuer_of(token)
        await issuer.keys.check(token)
        version = issuer.keys.version
        who = identity(token.claims, issuer.rules, now=now.timestamp())
        tenant, account = await self._account(who, now)
        role = strongest(who.roles)
        caller = Principal(tenant, account, role, who.roles - {role})
        until = min(who.ends_at, now.timestamp() + self._cache_s)
        self._checked.put(digest, _Checked(issuer, version, caller), until=until)
        return caller

    def _issuer_of(self, token: WrittenToken) -> Issuer:
        named = token.claims.get("iss")
        issuer = self._issuers.get(named) if isinstance(named, str) else None
        if issuer is None:
            raise TokenInvalid("another issuer")
        if token.algorithm not in issuer.rules.algorithms:
            raise TokenInvalid("another algorithm")
        return issuer

    async def _account(self, who: Identity, now: datetime) -> tuple[UUID, UUID]:
        """Its tenant and itself; raises `NotEnrolled`."""
        named = (who.account_name, who.tenant, who.display_name)
        for known in self._known.get(named, now=now.timestamp()) or ():
            return known
        tenant = await self._tenant(who.tenant, now)
        try:
            account = await self._accounts.person(
                tenant, who.account_name, strongest(who.roles), who.display_name, at=now
            )
        except AccountRefused as error:
            raise NotEnrolled from error
        self._known.put(named, (tenant, account), until=now.timestamp() + _ACCOUNT_S)
        return tenant, account

    async def _tenant(self, named: str | UUID, now: datetime) -> UUID:
        if isinstance(named, UUID):
            return named  # whether there is one shows when its account is asked for
        if self._create_tenants:
            return await self._accounts.tenant(named, name=named, at=now)
        found = await self._accounts.tenant_id(named)
        if found is None:
            raise NotEnrolled
        return found
