"""Whether sessions stayed at their replica, and whether those that did not had a reason."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from loadtests.domain.mending import mended_at
from loadtests.domain.rows import Row
from loadtests.domain.server import Event, EventKind, ReplicaSample


@dataclass(frozen=True, slots=True)
class Trouble:
    """A replica that something happened to, and until when; a session that leaves it then has a reason."""

    replica: str
    from_s: float
    until_s: float | None

    def parts(self, before: Row, turn: Row) -> bool:
        """Whether it came between two turns of a session, the first of which it had."""
        is_over = self.until_s is not None and self.until_s < before.started_s
        return self.replica == before.replica and self.from_s <= turn.ended_s and not is_over


@dataclass(frozen=True, slots=True)
class Moves:
    broken: int
    moved: int


def troubles(events: Iterable[Event], samples: Iterable[ReplicaSample]) -> list[Trouble]:
    """What was done to replicas, and when they did not answer: from the last look that saw them up to the next."""
    return [*_of_events(events), *_of_samples(samples)]


def moves_of(session: Sequence[Row], known: Sequence[Trouble]) -> Moves:
    """Of the turns of one session in their order; one without a replica says nothing."""
    placed = [turn for turn in session if turn.replica is not None]
    pairs = [(before, turn) for before, turn in pairwise(placed) if before.replica != turn.replica]
    moved = sum(1 for before, turn in pairs if turn.continued or any(each.parts(before, turn) for each in known))
    return Moves(broken=len(pairs) - moved, moved=moved)


def _of_events(events: Iterable[Event]) -> list[Trouble]:
    ordered = sorted(events, key=lambda event: event.at_s)
    faults = (event for event in ordered if event.kind is EventKind.FAULT)
    return [Trouble(fault.target, fault.at_s, mended_at(fault, ordered)) for fault in faults]


def _of_samples(samples: Iterable[ReplicaSample]) -> list[Trouble]:
    found: list[Trouble] = []
    last_up: dict[str, float] = {}
    down: dict[str, float] = {}
    for look in sorted(samples, key=lambda sample: sample.at_s):
        if not look.up:
            down.setdefault(look.replica, last_up.get(look.replica, look.at_s))
        else:
            last_up[look.replica] = look.at_s
            if look.replica in down:
                found.append(Trouble(look.replica, down.pop(look.replica), look.at_s))
    return [*found, *(Trouble(replica, from_s, None) for replica, from_s in down.items())]
