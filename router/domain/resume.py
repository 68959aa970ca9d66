"""How a streamed reply goes on after its replica failed."""

from dataclasses import dataclass

from router.domain.exchange import Call


@dataclass(frozen=True, slots=True)
class AskAgain:
    """Nothing was handed out: ask anew."""

    call: Call


@dataclass(frozen=True, slots=True)
class Continue:
    """Send this call; feed its answer."""

    call: Call


@dataclass(frozen=True, slots=True)
class Complete:
    """Nothing is missing: these bytes end the reply."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Stuck:
    """The reply cannot be continued honestly."""

    why: str


Resume = AskAgain | Continue | Complete | Stuck
