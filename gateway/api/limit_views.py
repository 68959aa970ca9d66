"""What operators send and see of limits."""

from collections.abc import Mapping
from typing import Literal, Self

from gateway.api.requests import Sent
from gateway.api.views import View
from gateway.domain.limit_layers import UNLIMITED, Effective, OwnLimits, TenantOwn
from gateway.limit_settings import Some


class OwnLimitsBody(Sent):
    """Limits of one account; what is null or left out is inherited."""

    requests_per_minute: Some | None = None
    request_burst: Some | None = None
    input_tokens_per_minute: Some | None = None
    output_tokens_per_minute: Some | None = None
    turns_in_flight: Some | None = None

    def own(self) -> OwnLimits:
        return OwnLimits(
            requests_per_minute=self.requests_per_minute,
            request_burst=self.request_burst,
            input_tokens_per_minute=self.input_tokens_per_minute,
            output_tokens_per_minute=self.output_tokens_per_minute,
            turns_in_flight=self.turns_in_flight,
        )


class TenantLimitsBody(OwnLimitsBody):
    """Limits of each account of the tenant, and of its open sessions together."""

    sessions: Some | None = None

    def of_tenant(self) -> TenantOwn:
        return TenantOwn(self.own(), self.sessions)


class LimitView(View):
    limit: int | Literal["unlimited"]
    source: str
    """Who has set it: account, tenant, role or installation."""

    @classmethod
    def of(cls, found: Effective) -> Self:
        return cls(limit=UNLIMITED if found.limit is None else found.limit, source=found.source)


class LimitsTableView(View):
    """What holds now, limit by limit."""

    limits: dict[str, LimitView]

    @classmethod
    def of(cls, found: Mapping[str, Effective]) -> Self:
        return cls(limits={name: LimitView.of(one) for name, one in found.items()})
