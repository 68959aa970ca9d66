"""Whose tokens count, and how long what is known of tokens, keys and tickets counts."""

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from gateway.domain.access import Role
from gateway.domain.issuer_url import may_be_asked
from gateway.domain.token_claims import SLUG, ClaimRules
from gateway.domain.token_text import SIGNING


class IssuerSettings(BaseModel):
    """One identity provider (OpenID Connect), and how its tokens are read."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    issuer: str = Field(description="exactly as `iss` and the discovery document say it")
    audience: str | tuple[str, ...] = Field(description="what `aud` has to name, or one of these")
    jwks_url: str | None = Field(default=None, description="where its keys are; by default the discovery document says")
    algorithms: tuple[str, ...] = Field(default=("RS256", "ES256", "EdDSA"), min_length=1)
    tenant: str | None = Field(default=None, description="all its people are of this tenant, whatever tokens say")
    tenants: tuple[str, ...] = Field(default=(), description="the tenants it may speak for; by default any")
    tenant_claim: str = Field(default="tenant", min_length=1, description="holds the tenant's slug or id")
    account_claim: str = Field(default="sub", min_length=1)
    roles_claim: str = Field(default="roles", min_length=1, description="a list, or words; dots lead inwards")
    name_claim: str = Field(default="name", min_length=1)
    roles: dict[str, Role] = Field(default_factory=lambda: {role.value: role for role in Role}, min_length=1)
    leeway_s: float = Field(default=30.0, ge=0, le=300)
    max_token_life_s: float = Field(default=86_400.0, gt=0, le=31_536_000)

    @field_validator("issuer", "jwks_url")
    @classmethod
    def _may_be_asked(cls, url: str | None) -> str | None:
        if url is not None and not may_be_asked(url):
            raise ValueError("it must be an https address, without a password in it; http for this machine alone")
        return url

    @field_validator("algorithms")
    @classmethod
    def _cannot_be_forged(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        unfit = [name for name in names if name not in SIGNING]
        if unfit:
            raise ValueError(f"{', '.join(unfit)} cannot be trusted; these can: {', '.join(sorted(SIGNING))}")
        return names

    @field_validator("audience")
    @classmethod
    def _names_somebody(cls, audience: str | tuple[str, ...]) -> str | tuple[str, ...]:
        if not audience or not all(audience):
            raise ValueError("it must name at least one audience, and none may be empty")
        return audience

    @model_validator(mode="after")
    def _names_tenants(self) -> Self:
        if self.tenant is not None and self.tenants:
            raise ValueError("give either tenant or tenants")
        if self.tenant is not None and not SLUG.fullmatch(self.tenant):
            raise ValueError("tenant: use small letters, digits and hyphens, at most 63")
        return self

    @property
    def rules(self) -> ClaimRules:
        return ClaimRules(
            issuer=self.issuer,
            audiences=frozenset([self.audience] if isinstance(self.audience, str) else self.audience),
            algorithms=frozenset(self.algorithms),
            tenant_claim=self.tenant_claim,
            account_claim=self.account_claim,
            roles_claim=self.roles_claim,
            name_claim=self.name_claim,
            roles=self.roles,
            tenants=frozenset(self.tenants),
            only_tenant=self.tenant,
            leeway_s=self.leeway_s,
            longest_life_s=self.max_token_life_s,
        )


class AccessSettings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    issuers: tuple[IssuerSettings, ...] = Field(default=(), max_length=32)
    create_tenants: bool = Field(default=False, description="a tenant that tokens name is made when there is none")
    ca_file: Path | None = Field(default=None, description="certificates of the authority that issuers' come from")
    keys_interval_s: float = Field(
        default=300.0, ge=1, le=86_400, description="a key that its issuer takes back works at most this much longer"
    )
    keys_cooldown_s: float = Field(default=30.0, ge=0.05, le=3600, description="an issuer is asked no more often")
    keys_stale_s: float = Field(default=86_400.0, ge=1, le=604_800, description="an issuer may be away for so long")
    keys_timeout_s: float = Field(default=5.0, gt=0, le=60)
    token_cache_s: float = Field(default=30.0, ge=0, le=300)
    ticket_s: float = Field(default=30.0, ge=1, le=300, description="a stream ticket has to be used within this")

    @model_validator(mode="after")
    def _keeps_tenants_apart(self) -> Self:
        named = [issuer.issuer for issuer in self.issuers]
        if len(set(named)) != len(named):
            raise ValueError("issuers: two are the same")
        if len(named) > 1 and not all(issuer.tenant or issuer.tenants for issuer in self.issuers):
            raise ValueError("issuers: where there are several, each must say for whom it speaks: tenant or tenants")
        if self.ca_file is not None and not self.ca_file.is_file():
            raise ValueError(f"ca_file: there is no file {self.ca_file}")
        return self
