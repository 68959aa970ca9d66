"""The settings of sessions; units stand in the names."""

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sessions.domain.budget import Shares
from sessions.domain.compaction import Marks


class DocumentSettings(BaseModel):
    """What may be put into knowledge bases, and how it is cut."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_bytes: int = Field(default=20_971_520, ge=1024, le=268_435_456, description="most bytes of one upload")
    max_characters: int = Field(default=2_000_000, ge=1000, le=50_000_000, description="most text of one document")
    max_pages: int = Field(default=2000, ge=1, le=100_000, description="most pages of one PDF")
    read_limit_s: float = Field(default=60.0, gt=0, le=600, description="reading that takes longer is given up")
    at_once: int = Field(default=2, ge=1, le=64, description="documents that one process reads at the same time")
    in_hand: int = Field(
        default=16, ge=1, le=1024, description="uploads that one process has in memory; more are refused for now"
    )
    chunk_tokens: int = Field(default=180, ge=16, le=4096, description="most tokens of one chunk")
    overlap_tokens: int = Field(
        default=30, ge=0, le=1024, description="a long paragraph says its last sentence again up to so many tokens"
    )
    base_chunks: int = Field(default=20_000, ge=1, le=1_000_000, description="most chunks of one knowledge base")


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
        default=30.0, gt=0, le=600, description="a note that takes longer is given up, and tried again some turns later"
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
    documents: DocumentSettings = Field(default_factory=DocumentSettings)
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

    @model_validator(mode="after")
    def _has_room_for_a_chunk(self) -> Self:
        if self.documents.chunk_tokens > self.knowledge_tokens:
            raise ValueError(
                f"documents.chunk_tokens: a chunk of {self.documents.chunk_tokens} tokens never fits into the"
                f" {self.knowledge_tokens} of knowledge_tokens"
            )
        return self
