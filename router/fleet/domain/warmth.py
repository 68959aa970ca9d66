"""How far a replica's warm-up has come, and what it is given to compute."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from router.fleet.domain.replica_record import Milestone, WarmReport


@dataclass(frozen=True, slots=True)
class Prefix:
    """The beginning of every prompt of one scenario, as messages of the OpenAI API; never shown or logged."""

    name: str
    """The scenario's id, for operators."""
    messages: Sequence[Mapping[str, str]]
    cache_salt: str = ""
    """With which its tenant's turns are asked: without it nothing of theirs is found in the cache."""
    template_arguments: Mapping[str, str] = field(default_factory=dict)
    """What its turns give to the chat template beside the messages."""


@dataclass(frozen=True, slots=True)
class Warming:
    """Under way; `reached` is the last step that was taken, None before the replica has answered."""

    reached: Milestone | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Warm:
    report: WarmReport


@dataclass(frozen=True, slots=True)
class Unfit:
    """It must not serve: another model, or another answer than the pool's."""

    reason: str


WarmLook = Warming | Warm | Unfit
