"""The settings of sessions; units stand in the names."""

from pydantic import BaseModel, ConfigDict, Field

from sessions.domain.budget import Shares


class SessionSettings(BaseModel):
    """Handed to the use cases by the wiring. All token numbers are counted by the served model's tokenizer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reply_tokens: int = Field(default=256, ge=1, le=32_768, description="most tokens of one reply")
    message_tokens: int = Field(default=768, ge=16, le=32_768, description="most tokens of one trainee message")
    script_tokens: int = Field(default=1000, ge=16, le=32_768, description="most tokens of one scene script")
    opening_tokens: int = Field(default=200, ge=8, le=8_192, description="most tokens of an opening line")
    lease_s: float = Field(
        default=10.0, gt=0.1, le=300, description="a turn's lease outlives its dead holder by at most this"
    )

    def shares(self, window_tokens: int) -> Shares:
        return Shares(
            window=window_tokens,
            reply=self.reply_tokens,
            message=self.message_tokens,
            script=self.script_tokens,
            opening=self.opening_tokens,
        )
