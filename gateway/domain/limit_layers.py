"""Whose word counts on a limit: the account's own, else its tenant's, else its role's, else the installation's."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Final, Literal

from gateway.domain.limits import AccountLimits, TenantLimits

UNLIMITED: Final = "unlimited"
Own = int | Literal["unlimited"] | None
"""What one of them has set; None: nothing, so the next one's word counts."""


@dataclass(frozen=True, slots=True)
class OwnLimits:
    """Of an account, whoever has set them; the fields are those of `AccountLimits`."""

    requests_per_minute: Own = None
    request_burst: Own = None
    input_tokens_per_minute: Own = None
    output_tokens_per_minute: Own = None
    turns_in_flight: Own = None


NAMES: Final = tuple(each.name for each in fields(OwnLimits))


@dataclass(frozen=True, slots=True)
class TenantOwn:
    """What a tenant has set: for each of its accounts, and for all of it together."""

    accounts: OwnLimits = OwnLimits()
    sessions: Own = None


class Source(StrEnum):
    ACCOUNT = "account"
    TENANT = "tenant"
    ROLE = "role"
    INSTALLATION = "installation"


@dataclass(frozen=True, slots=True)
class Effective:
    limit: int | None
    """None: there is no such limit."""
    source: Source


Layers = Sequence[tuple[Source, OwnLimits]]


def effective(layers: Layers) -> Mapping[str, Effective]:
    """What holds for an account, limit by limit; the first of the layers that has set one counts."""
    return {name: _first([(source, getattr(own, name)) for source, own in layers]) for name in NAMES}


def account_limits(layers: Layers) -> AccountLimits:
    return AccountLimits(**{name: found.limit for name, found in effective(layers).items()})


def tenant_sessions(tenant: TenantOwn, installation: Own) -> Effective:
    return _first([(Source.TENANT, tenant.sessions), (Source.INSTALLATION, installation)])


def tenant_limits(tenant: TenantOwn, installation: Own) -> TenantLimits:
    return TenantLimits(tenant_sessions(tenant, installation).limit)


def is_set(own: OwnLimits | TenantOwn) -> bool:
    """Whether it says anything at all."""
    return own != type(own)()


def settings_of(own: OwnLimits) -> Mapping[str, Own]:
    return asdict(own)


def _first(words: Sequence[tuple[Source, Own]]) -> Effective:
    for source, own in words:
        if own is not None:
            return Effective(None if own == UNLIMITED else own, source)
    return Effective(None, Source.INSTALLATION)
