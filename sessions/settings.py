"""The settings of sessions; units stand in the names."""

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sessions.domain.budget import Shares
from sessions.domain.compaction import Marks


class SessionSettings(BaseModel):
    """Handed to the use cases by the wiring. All token numbers are counted by the served model's tokenizer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reply_tokens: int = Field(default=256, ge=1, le=32_768, description="most tokens of one reply")
    message_tokens: int = Field(default=768, ge=16, le=32_768, description="most tokens of one trainee message")
    script_tokens: int = Field(default=1000, ge=16, le=32_768, description="most tokens of one scene script")
    opening_tokens: int = Field(default=200, ge=8, le=8_192, description="most tokens of an opening line")
    summary_tokens: int = Field(default=480, ge=32, le=8_192, description="most tokens of all notes on folded turns")
    note_tokens: int = Field(default=160, ge=16, le=4_096, description="most tokens of one note")
    knowledge_tokens: int = Field(
        default=600, ge=64, le=16_384, description="most tokens of the background found for one message"
    )
    verbatim_turns: int = Field(
        default=20, ge=1, le=200, description="so many of the latest turns stay word for word where the window allows"
    )
    tail_turns: int = Field(default=30, ge=2, le=400, description="from so many turns on the oldest are folded")
    note_timeout_s: float = Field(
        default=30.0, gt=0, le=600, description="a note that takes longer is given up, and tried again after a turn"
    )
    compactions_at_once: int = Field(
        default=8, ge=1, le=256, description="sessions of one process that are folded at the same time"
    )
    working_set_ttl_s: float = Field(
        default=7200.0, ge=1, le=604_800, description="a session's history stays at hand in Redis so long after a turn"
    )
    working_set_timeout_s: float = Field(
        default=0.1, gt=0, le=5, description="a history that Redis does not tell so soon is read from Postgres"
    )
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
            summary=self.summary_tokens,
            note=self.note_tokens,
            knowledge=self.knowledge_tokens,
        )

    @property
    def marks(self) -> Marks:
        return Marks(low=self.verbatim_turns, high=self.tail_turns)

    @model_validator(mode="after")
    def _grows_before_it_is_folded(self) -> Self:
        if self.tail_turns <= self.verbatim_turns:
            raise ValueError(
                f"tail_turns: {self.tail_turns} turns, of which {self.verbatim_turns} stay, leave none to fold"
            )
        return self
