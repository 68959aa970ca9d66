"""What a script says, at the start or through /sim/script: replies per scenario, and faults with their times."""

from collections.abc import Sequence
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from loadtests.simulator.domain.faults import Fault, FaultKind
from loadtests.simulator.domain.replies import Reply, Rule, long_reply, repeated, split_everywhere
from loadtests.simulator.errors import SimulatorError


class UnusableScript(SimulatorError):
    """A script that cannot be read; says why."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class ReplyEntry(_Strict):
    """One reply, said in one of five ways; `{"text": ""}` is an empty one."""

    text: str | None = None
    pieces: list[str] | None = None
    """One token each."""
    split: list[str] | None = None
    """Phrases, each cut at every possible place."""
    repeat: str | None = None
    times: int = Field(default=50, ge=1)
    long: int | None = Field(default=None, ge=1)
    """At least so many characters."""

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        ways = (self.text, self.pieces, self.split, self.repeat, self.long)
        if sum(way is not None for way in ways) != 1:
            raise ValueError("a reply has exactly one of text, pieces, split, repeat and long")
        return self

    def reply(self) -> Reply:
        if self.pieces is not None:
            return Reply("".join(self.pieces), tuple(self.pieces))
        if self.split is not None:
            return split_everywhere(self.split)
        if self.repeat is not None:
            return repeated(self.repeat, self.times)
        if self.long is not None:
            return long_reply(0, characters=self.long)
        return Reply(self.text or "")


class RuleEntry(_Strict):
    """Replies, turn by turn, for conversations whose system prompt and last message hold these words."""

    system: str = ""
    last: str = ""
    replies: list[ReplyEntry | str] = Field(min_length=1)

    def rule(self) -> Rule:
        said = (Reply(each) if isinstance(each, str) else each.reply() for each in self.replies)
        return Rule(tuple(said), system=self.system, last=self.last)


class FaultEntry(_Strict):
    """The fields of a fault; `from_s` counts from when the replica is ready, in a request from when it was added."""

    kind: FaultKind
    id: str = ""
    session: str = ""
    last: str = ""
    after_chunks: int = Field(default=0, ge=0)
    after_requests: int = Field(default=0, ge=0)
    times: int | None = Field(default=None, ge=0)
    from_s: float = Field(default=0.0, ge=0)
    for_s: float | None = Field(default=None, gt=0)
    status: int = Field(default=503, ge=400, le=599)
    factor: float = Field(default=1.0, gt=0)
    period_s: float = Field(default=1.0, gt=0)
    bytes_per_write: int = Field(default=1, ge=1)

    def fault(self, *, now_s: float = 0.0) -> Fault:
        fields = self.model_dump()
        return Fault(**{**fields, "from_s": now_s + self.from_s})


class Script(_Strict):
    replies: list[RuleEntry] = Field(default_factory=list)
    faults: list[FaultEntry] = Field(default_factory=list)
    loading_factor: float = Field(default=1.0, gt=0)
    """How many times as long as in its profile the replica loads."""

    @property
    def rules(self) -> Sequence[Rule]:
        return tuple(entry.rule() for entry in self.replies)


def script_of(text: str) -> Script:
    try:
        return Script.model_validate_json(text)
    except ValidationError as error:
        raise UnusableScript(_told(error)) from error


def read_script(path: Path) -> Script:
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UnusableScript(f"{path}: {error}") from error
    return script_of(text)


def fault_entry(text: str) -> FaultEntry:
    try:
        return FaultEntry.model_validate_json(text)
    except ValidationError as error:
        raise UnusableScript(_told(error)) from error


def _told(error: ValidationError) -> str:
    return "; ".join(f"{'.'.join(map(str, each['loc'])) or 'script'}: {each['msg']}" for each in error.errors())
