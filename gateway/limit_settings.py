"""What an installation lets everybody take, where operators have set nothing else for a tenant or an account."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Some = Annotated[int, Field(ge=1, le=2_000_000_000)] | Literal["unlimited"]


class LimitSettings(BaseModel):
    """Of each account, but for the last one; "unlimited" is no limit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    requests_per_minute: Some = 600
    request_burst: Some = 120
    input_tokens_per_minute: Some = "unlimited"
    output_tokens_per_minute: Some = "unlimited"
    turns_in_flight: Some = 64
    tenant_sessions: Some = "unlimited"
