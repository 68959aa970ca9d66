"""What an installation lets OpenAI's clients ask of it."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from gateway.domain.openai_parameters import FORWARDABLE, FORWARDED, ParameterPolicy


def _known(names: frozenset[str]) -> frozenset[str]:
    if unknown := sorted(names - {*FORWARDED, *FORWARDABLE}):
        raise ValueError(f"these cannot be forwarded: {', '.join(unknown)}; docs/openai.md lists what can")
    return names


class OpenAiSettings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    parameters: Annotated[frozenset[str], AfterValidator(_known)] = Field(
        default=frozenset(FORWARDED), description="what goes on to the engine; all others are refused or left out"
    )
    reply_tokens: int = Field(
        default=2048, ge=1, le=1_048_576, description="the most of one reply, and what it has if no limit is asked for"
    )
    body_limit_bytes: int = Field(
        default=262_144, ge=1024, le=67_108_864, description="each megabyte costs half a second to count"
    )
    trainees: bool = Field(
        default=False,
        description="whether trainees may ask a model without a scenario; others are let in by their role",
    )

    @property
    def policy(self) -> ParameterPolicy:
        return ParameterPolicy(self.parameters, self.reply_tokens)
