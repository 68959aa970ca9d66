"""What a conductor is told to do, and what comes of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from loadtests.domain.drill import Drill
from loadtests.domain.figures import Figures
from loadtests.domain.reason import Reason
from loadtests.domain.targets import Targets
from loadtests.domain.verdict import Verdict
from loadtests.run_folder import RunFolder
from loadtests.target import Target


class Exit(IntEnum):
    """How a command of load drills leaves."""

    PASSED = 0
    MISSED = 1
    REFUSED = 2
    """It could not run at all."""
    VOID = 3
    """The client spoiled the run, or it was too short to say."""
    INTERRUPTED = 130


class DrillFailed(Exception):
    """The drill could not be played: what happened and what to do next, in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One drill to be played. `drill.faults` are carried out only on processes that the target's ready file names."""

    drill: Drill
    target: Target
    folder: RunFolder
    targets: Targets
    workers: int = 1
    price_per_hour: float | None = None
    """Of one replica, for the cost per drill."""
    facts: Mapping[str, object] = field(default_factory=dict)
    """What the caller knows of the fleet; it goes into facts.json as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    folder: RunFolder
    figures: Figures
    verdict: Verdict
    reasons: tuple[Reason, ...] = ()
    """What explains the targets that were missed, the likeliest first."""
    void: str | None
    """Why nothing may be concluded from this run."""
    incomplete: str | None
    """Why it ended before its time."""
    exit_code: Exit
