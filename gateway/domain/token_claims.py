"""What the claims of a token mean here: whether they count now, and whose they are."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from gateway.domain.access import Role
from gateway.errors import NotEnrolled, TokenInvalid

SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_LONGEST_SUBJECT = 255
_LONGEST_NAME = 100
_LATEST = 1e11
"""No moment of ours is later, in seconds since 1970; a larger number would not fit into a date."""


@dataclass(frozen=True, slots=True)
class ClaimRules:
    """How the tokens of one issuer are read."""

    issuer: str
    audiences: frozenset[str]
    algorithms: frozenset[str]
    tenant_claim: str
    account_claim: str
    roles_claim: str
    name_claim: str
    roles: Mapping[str, Role]
    tenants: frozenset[str] = frozenset()
    """The tenants that this issuer speaks for; none named: any."""
    only_tenant: str | None = None
    """All its people are of this one, whatever their tokens say."""
    leeway_s: float = 30.0
    longest_life_s: float = 86_400.0


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a token speaks of."""

    issuer: str
    subject: str
    tenant: str | UUID
    """Its slug or, where the claim holds one, its id."""
    roles: frozenset[Role]
    display_name: str | None
    ends_at: float

    @property
    def account_name(self) -> str:
        """Unique over issuers, also where one host has several."""
        return f"{self.issuer.partition('://')[2].rstrip('/')}|{self.subject}"


def identity(claims: Mapping[str, object], rules: ClaimRules, *, now: float) -> Identity:
    """Raises `TokenInvalid`, or `NotEnrolled` when the token is good and gives no role or tenant of ours."""
    _check_parties(claims, rules)
    ends_at = _checked_times(claims, rules, now)
    return Identity(
        issuer=rules.issuer,
        subject=_subject(claims, rules.account_claim),
        tenant=_tenant(claims, rules),
        roles=_roles(claims, rules),
        display_name=_display_name(claims, rules.name_claim),
        ends_at=ends_at,
    )


def _check_parties(claims: Mapping[str, object], rules: ClaimRules) -> None:
    if claims.get("iss") != rules.issuer:
        raise TokenInvalid("another issuer")
    audience = claims.get("aud")
    named = [audience] if isinstance(audience, str) else audience
    if not isinstance(named, list) or not any(isinstance(one, str) and one in rules.audiences for one in named):
        raise TokenInvalid("another audience")


def _checked_times(claims: Mapping[str, object], rules: ClaimRules, now: float) -> float:
    """When it is over, the leeway included."""
    ends_at = _moment(claims, "exp")
    issued_at = _moment(claims, "iat") if "iat" in claims else min(now, ends_at)
    begins_at = _moment(claims, "nbf") if "nbf" in claims else issued_at
    if ends_at + rules.leeway_s <= now:
        raise TokenInvalid("expired")
    if max(begins_at, issued_at) > now + rules.leeway_s:
        raise TokenInvalid("not valid yet")
    if ends_at - issued_at > rules.longest_life_s:
        raise TokenInvalid("lives too long")
    return ends_at + rules.leeway_s


def _moment(claims: Mapping[str, object], name: str) -> float:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LATEST:
        raise TokenInvalid(f"no usable {name}")
    return float(value)


def _subject(claims: Mapping[str, object], name: str) -> str:
    value = claimed(claims, name)
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_SUBJECT or not value.isprintable():
        raise TokenInvalid(f"no usable {name}")
    return value


def _tenant(claims: Mapping[str, object], rules: ClaimRules) -> str | UUID:
    if rules.only_tenant is not None:
        return rules.only_tenant
    value = claimed(claims, rules.tenant_claim)
    if not isinstance(value, str) or (rules.tenants and value not in rules.tenants):
        raise NotEnrolled
    if _UUID.fullmatch(value):
        return UUID(value)
    if not SLUG.fullmatch(value):
        raise NotEnrolled
    return value


def _roles(claims: Mapping[str, object], rules: ClaimRules) -> frozenset[Role]:
    value = claimed(claims, rules.roles_claim)
    named = value.split() if isinstance(value, str) else value if isinstance(value, list) else []
    found = frozenset(rules.roles[one] for one in named if isinstance(one, str) and one in rules.roles)
    if not found:
        raise NotEnrolled
    return found


def _display_name(claims: Mapping[str, object], name: str) -> str | None:
    value = claimed(claims, name)
    if not isinstance(value, str):
        return None
    return "".join(one for one in value if one.isprintable()).strip()[:_LONGEST_NAME] or None


def claimed(claims: Mapping[str, object], name: str) -> object:
    """The claim of this name or, where there is none, at this path of names with dots between them."""
    if name in claims:
        return claims[name]
    found: object = claims
    for part in name.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found
