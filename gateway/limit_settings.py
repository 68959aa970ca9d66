"""What an installation lets everybody take, where operators have set nothing else for a tenant or an account."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from gateway.domain.access import Role
from gateway.domain.limit_layers import UNLIMITED, OwnLimits

MOST = 2_000_000_000


def _one_reason(value: object, read: ValidatorFunctionWrapHandler) -> object:
    """Pydantic tells of each member of a union by itself, and in the names of its own types."""
    try:
        return read(value)
    except ValidationError:
        raise ValueError(f"a limit is a whole number from 1 to {MOST}, or {UNLIMITED!r}") from None


Some = Annotated[Annotated[int, Field(ge=1, le=MOST)] | Literal["unlimited"], WrapValidator(_one_reason)]


class RoleLimits(BaseModel):
    """Of each account in a role; what is left out is as for everybody."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    requests_per_minute: Some | None = None
    request_burst: Some | None = None
    input_tokens_per_minute: Some | None = None
    output_tokens_per_minute: Some | None = None
    turns_in_flight: Some | None = None

    def own(self) -> OwnLimits:
        return OwnLimits(**self.model_dump())


class LimitSettings(BaseModel):
    """The first five are of each account; "unlimited" is no limit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    requests_per_minute: Some = 600
    request_burst: Some = 120
    input_tokens_per_minute: Some = UNLIMITED
    output_tokens_per_minute: Some = UNLIMITED
    turns_in_flight: Some = 64
    roles: dict[Role, RoleLimits] = Field(default_factory=dict, description="what accounts in a role have instead")
    tenant_sessions: Some = Field(default=UNLIMITED, description="open sessions of a tenant at once")
    prompt_tokens: int = Field(
        default=1000, ge=1, le=1_000_000, description="what a turn is taken to be shown where nothing better is known"
    )
    cache_s: float = Field(
        default=5.0, ge=0, le=300, description="a changed limit or drill takes effect in every process within this"
    )
    seat_s: float = Field(
        default=14_400.0, ge=60, le=604_800, description="a session that neither takes a turn nor ends keeps its seat"
    )
    timeout_s: float = Field(
        default=1.0, gt=0, le=5, description="a Redis that answers later is away, and each process counts for itself"
    )
    local_share: float = Field(
        default=0.5, gt=0, le=1, description="how much of a limit one process lets through while Redis is away"
    )
    seats_grace_s: float = Field(
        default=10.0, ge=0, le=3600, description="no new seats once Redis has been away for so long"
    )

    def everybody(self) -> OwnLimits:
        return OwnLimits(
            requests_per_minute=self.requests_per_minute,
            request_burst=self.request_burst,
            input_tokens_per_minute=self.input_tokens_per_minute,
            output_tokens_per_minute=self.output_tokens_per_minute,
            turns_in_flight=self.turns_in_flight,
        )
