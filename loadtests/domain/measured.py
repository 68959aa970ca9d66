"""What is compared of runs, as numbers of each unit: a session, or a turn where there are too few sessions."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from loadtests.domain.figures import ColdReason, Figures
from loadtests.domain.figuring import turns_of
from loadtests.domain.limits import Limits
from loadtests.domain.resample import Ratio, Times, times
from loadtests.domain.rows import Row
from loadtests.domain.spread import MEASURES
from loadtests.domain.spread import times as times_of
from loadtests.domain.warmth import cold_reasons

Session = Sequence[Row]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSeen:
    """One run: its turns by session, and its figures."""

    sessions: tuple[Session, ...]
    figures: Figures
    limits: Limits
    history: int | None = None
    """Of its drill."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One or several runs of the same, as arrays over their units."""

    units: tuple[int, ...]
    """Of each run."""
    are_sessions: bool
    times: Mapping[str, Times]
    ratios: Mapping[str, Ratio]
    failing: int
    """Units with a turn that failed."""


def run_seen(rows: Iterable[Row], *, figures: Figures, limits: Limits, history: int | None = None) -> RunSeen:
    """A session that was not opened is one of its own, with its failed turn."""
    found: dict[tuple[int, str, float], list[Row]] = defaultdict(list)
    for turn in sorted(turns_of(rows), key=lambda each: each.started_s):
        opened = turn.session and turn.failure != "not_opened"
        found[(turn.trainee, turn.session, 0.0 if opened else turn.started_s)].append(turn)
    return RunSeen(
        sessions=tuple(tuple(each) for each in found.values()), figures=figures, limits=limits, history=history
    )


def side(runs: Sequence[RunSeen], *, by_sessions: bool) -> Side:
    units = [_units(run, by_sessions=by_sessions) for run in runs]
    everything = [unit for each in units for unit in each]
    return Side(
        units=tuple(len(each) for each in units),
        are_sessions=by_sessions,
        times={
            **{
                name: times([times_of(unit.turns, measure) for unit in everything])
                for name, measure in MEASURES.items()
            },
            "bell_ttft": times([times_of(_first(unit.turns), MEASURES["ttft"]) for unit in everything]),
        },
        ratios=_ratios(runs, units),
        failing=sum(1 for unit in everything if any(turn.failure is not None for turn in unit.turns)),
    )


@dataclass(frozen=True, slots=True)
class _Unit:
    turns: Session
    cold: int
    """Of its `known` turns."""
    known: int


def _first(turns: Session) -> Session:
    return [turn for turn in turns if turn.turn == 1]


def _units(run: RunSeen, *, by_sessions: bool) -> list[_Unit]:
    found = []
    for session in run.sessions:
        reasons = cold_reasons(session, history=run.history)
        known = [reason for reason in reasons if reason is not ColdReason.UNTOLD]
        cold = sum(1 for reason in known if reason is not None)
        if by_sessions:
            found.append(_Unit(session, cold, len(known)))
        else:
            found += [_Unit((turn,), 0, 0) for turn in session]
    return found


def _ratios(runs: Sequence[RunSeen], units: Sequence[Sequence[_Unit]]) -> dict[str, Ratio]:
    owned = [(unit, run.limits) for run, each in zip(runs, units, strict=True) for unit in each]
    return {
        "goodput_share": _ratio((_good(unit, limits), len(unit.turns)) for unit, limits in owned),
        "cached_share": _ratio(_cached(unit) for unit, _ in owned),
        "cold_share": _ratio((unit.cold, unit.known) for unit, _ in owned),
    }


def _ratio(pairs: Iterable[tuple[int, int]]) -> Ratio:
    columns = np.array(list(pairs), dtype=np.float64).reshape(-1, 2)
    return Ratio(columns[:, 0], columns[:, 1])


def _good(unit: _Unit, limits: Limits) -> int:
    return sum(1 for turn in unit.turns if limits.are_met_by(turn))


def _cached(unit: _Unit) -> tuple[int, int]:
    told = [(turn.cached_tokens, turn.prompt_tokens) for turn in unit.turns if turn.cached_tokens is not None]
    return sum(cached for cached, _ in told), sum(prompt for _, prompt in told)
