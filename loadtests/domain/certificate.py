"""A certificate for a class: whether it holds on a fleet, at what price, what showed it, and what it is worth."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from hashlib import sha256

from loadtests.domain.drill import Drill
from loadtests.domain.figures import ColdReason, Figures
from loadtests.domain.json_values import json_object
from loadtests.domain.mending import mended_at
from loadtests.domain.seat_search import Trial, proven
from loadtests.domain.server import Event, EventKind
from loadtests.domain.targets import DEFAULT, Targets
from loadtests.domain.verdict import Judged, Standing, Verdict, Whole

_HOUR_S = 3600.0
_FIRST_TOKEN = frozenset({"ttft_p95_s", "ttft_planned_p95_s", "bell_ttft_p95_s"})


class Answer(StrEnum):
    CERTIFIED = "certified"
    NOT_CERTIFIED = "not certified"
    VOID = "void"
    """Nothing was shown: the client spoiled the run, or it was too short."""


EXIT_CODES = {Answer.CERTIFIED: 0, Answer.NOT_CERTIFIED: 1, Answer.VOID: 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Lived:
    """A fault that the class lived through. `mended_after_s` None: it had not come back when the class ended."""

    kind: str
    target: str
    at_s: float
    mended_after_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a certificate is made of."""

    drill: Drill
    targets: Targets
    figures: Figures
    verdict: Verdict
    events: Sequence[Event] = ()
    uncaused: Sequence[str] = ()
    """Faults that could not be caused, and why."""
    reasons: Sequence[str] = ()
    """Why it went as it did, the weightiest first."""
    trials: Sequence[Trial] = ()
    """Shorter classes that were played to find the number of seats."""
    price_per_hour: float | None = None
    is_simulated: bool = False
    valid_for: Mapping[str, str] = field(default_factory=dict)
    run_digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    answer: Answer
    asked_seats: int
    seats: int
    """At the agreed first-token time; 0 when it was not kept to."""
    ttft_s: float
    """What was agreed."""
    ttft_p95_s: float | None
    bell_ttft_p95_s: float | None
    turns: int
    failed: int
    cold_share: float | None
    cold: Mapping[str, int]
    moved_by_faults: int
    """Turns that ran elsewhere because their replica was lost; they are cold for a good reason."""
    drills_lost: int
    drills_completed: int
    gpu_hours: float | None
    gpu_hours_per_drill: float | None
    cost_per_drill: float | None
    lived_through: tuple[Lived, ...]
    uncaused: tuple[str, ...]
    why: tuple[str, ...]
    """Of one that was not given: what was missed, then the likely reasons."""
    reservations: tuple[str, ...]
    """Of one that was given: what this class was too small to show."""
    trials: tuple[Trial, ...]
    is_simulated: bool
    valid_for: Mapping[str, str]
    run_digest: str

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.answer]

    @property
    def title(self) -> str:
        on = " on simulated replicas" if self.is_simulated else ""
        match self.answer:
            case Answer.CERTIFIED:
                return f"Certified{on}: {self.seats} seats with a first token within {self.ttft_s:g} s"
            case Answer.NOT_CERTIFIED:
                return f"Not certified{on}: a class of {self.asked_seats} with a first token within {self.ttft_s:g} s"
            case _:
                return f"Nothing shown{on}: the class of {self.asked_seats} proves neither"

    @property
    def digest(self) -> str:
        """Of all that it says; with `run_digest` it changes with every row that was measured."""
        return sha256(json.dumps(json_object(asdict(self)), sort_keys=True).encode()).hexdigest()

    def as_json(self) -> dict[str, object]:
        return {**json_object(asdict(self)), "title": self.title, "digest": self.digest}


def targets_of_a_class(ttft_s: float) -> Targets:
    """Every first-token time is the agreed one: also of a first turn, and from when the timetable had it."""
    return replace(DEFAULT, ttft_p95_s=ttft_s, ttft_planned_p95_s=ttft_s, bell_ttft_p95_s=ttft_s, good_ttft_s=ttft_s)


def forgiving_faults(targets: Targets, figures: Figures) -> Targets:
    """A turn whose replica was lost, and with it the cache, has to be computed anew, and is not held against it."""
    if targets.cold_share is None or not figures.warm_turns:
        return targets
    forgiven = (figures.affinity_moved + figures.cold.get(ColdReason.LOST, 0)) / figures.warm_turns
    return replace(targets, cold_share=min(1.0, targets.cold_share + forgiven))


def kept_first_token(verdict: Verdict) -> bool:
    """Whether every first-token time is within what was agreed, however few turns it rests on."""
    return all(_looks_met(each) for each in verdict.judged if each.target in _FIRST_TOKEN)


def certificate(evidence: Evidence) -> Certificate:
    figures, drill = evidence.figures, evidence.drill
    lost = max(0, drill.trainees - figures.completed)
    answer = _answer(evidence.verdict, lost)
    gpu_hours = None if figures.replica_seconds is None else figures.replica_seconds / _HOUR_S
    per_drill = gpu_hours / figures.completed if gpu_hours is not None and figures.completed else None
    price = evidence.price_per_hour
    return Certificate(
        answer=answer,
        asked_seats=drill.trainees,
        seats=_seats(evidence),
        ttft_s=evidence.targets.ttft_p95_s or 0.0,
        ttft_p95_s=figures.ttft.p95,
        bell_ttft_p95_s=figures.bell_ttft.p95,
        turns=figures.turns,
        failed=figures.failed,
        cold_share=figures.cold_share,
        cold=dict(figures.cold),
        moved_by_faults=figures.affinity_moved,
        drills_lost=lost,
        drills_completed=figures.completed,
        gpu_hours=gpu_hours,
        gpu_hours_per_drill=per_drill,
        cost_per_drill=None if per_drill is None or price is None else per_drill * price,
        lived_through=_lived_through(evidence.events),
        uncaused=tuple(evidence.uncaused),
        why=() if answer is Answer.CERTIFIED else tuple(_why(evidence, lost)),
        reservations=tuple(_reservations(evidence.verdict)) if answer is Answer.CERTIFIED else (),
        trials=tuple(evidence.trials),
        is_simulated=evidence.is_simulated,
        valid_for=dict(evidence.valid_for),
        run_digest=evidence.run_digest,
    )


def _answer(verdict: Verdict, lost: int) -> Answer:
    if verdict.whole is Whole.VOID:
        return Answer.VOID
    if verdict.whole is Whole.MISSED or lost:
        return Answer.NOT_CERTIFIED
    open_ones = verdict.of(Standing.NOT_JUDGED)
    return Answer.CERTIFIED if all(map(_looks_met, open_ones)) else Answer.VOID


def _looks_met(judged: Judged) -> bool:
    if judged.measured is None:
        return False
    return judged.measured >= judged.limit if judged.is_floor else judged.measured <= judged.limit


def _seats(evidence: Evidence) -> int:
    if evidence.trials:
        return proven(evidence.trials)
    is_shown = evidence.verdict.whole is not Whole.VOID
    return evidence.drill.trainees if is_shown and kept_first_token(evidence.verdict) else 0


def _lived_through(events: Sequence[Event]) -> tuple[Lived, ...]:
    return tuple(_lived(fault, mended_at(fault, events)) for fault in events if fault.kind is EventKind.FAULT)


def _lived(fault: Event, mended_s: float | None) -> Lived:
    after_s = None if mended_s is None else mended_s - fault.at_s
    return Lived(kind=fault.note, target=fault.target, at_s=fault.at_s, mended_after_s=after_s)


def _why(evidence: Evidence, lost: int) -> list[str]:
    verdict = evidence.verdict
    told = list(verdict.void)
    told += [_missed(each) for each in verdict.of(Standing.MISSED)]
    told += [f"{each.target}: {each.why}" for each in verdict.of(Standing.NOT_JUDGED) if not _looks_met(each)]
    told += [f"{lost} of {evidence.drill.trainees} drills were not completed"] if lost else []
    return told + list(evidence.reasons)


def _missed(judged: Judged) -> str:
    measured = "no answer" if judged.measured == float("inf") else f"{judged.measured:.4g}"
    bound = "at least" if judged.is_floor else "at most"
    return f"{judged.target}: {measured}, {bound} {judged.limit:.4g}" + (f" ({judged.why})" if judged.why else "")


def _reservations(verdict: Verdict) -> list[str]:
    return [f"{each.target}: {each.why}" for each in verdict.of(Standing.NOT_JUDGED)]
