"""What a step of the story gave, from its figures and rows: pure arithmetic."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from loadtests.domain.figures import Figures, Slice
from loadtests.domain.json_values import json_object
from loadtests.domain.rows import Kind, Row
from loadtests.simulator.domain.profile import Profile
from loadtests.story.steps import Basis, Step

TTFT_LIMIT_S = 1.5
DRILL_S = 1800.0
"""A drill of half an hour, for its price."""
_GB = 1e9
_ASKED = frozenset({Kind.TURN, Kind.OPEN})


@dataclass(frozen=True, slots=True, kw_only=True)
class Stair:
    """So many sessions on each card; times in seconds, None where no turn was answered.

    Times are those of a stair that has settled; `failed` counts from its beginning, while its newcomers come.
    """

    per_card: float
    turns: int
    failed: int
    ttft_p50_s: float | None
    ttft_p95_s: float | None
    tpot_p50_s: float | None
    cached_share: float | None

    @property
    def holds(self) -> bool:
        """Every turn answered, and 95 % of the first tokens within the limit."""
        return self.turns > 0 and not self.failed and self.ttft_p95_s is not None and self.ttft_p95_s <= TTFT_LIMIT_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """`stable_per_card`: of the highest stair up to which every stair held; 0: none did.

    The times, tokens and KV are those of that stair, or of the lowest where none held.
    """

    step: str
    change: str
    basis: Basis
    stable_per_card: float
    fails_with: str
    """What the stair above it failed with, in a few words; empty: no higher one was played."""
    ttft_p50_s: float | None
    ttft_p95_s: float | None
    tpot_p50_s: float | None
    cached_share: float | None
    prompt_tokens: float | None
    """Mean of a turn."""
    computed_tokens: float | None
    """Mean of a turn's prompt that was not cached."""
    session_gb: float | None
    """KV that a session's latest turn needs, shared beginnings counted in."""
    gpu_minutes_per_drill: float | None
    """Of a drill of half an hour, with every card as full as is stable."""
    preemptions: int | None
    stairs: tuple[Stair, ...]

    def price_per_drill(self, price_per_hour: float) -> float | None:
        return None if self.gpu_minutes_per_drill is None else price_per_hour * self.gpu_minutes_per_drill / 60

    def as_json(self) -> dict[str, object]:
        return json_object(asdict(self))


def given_by(
    step: Step, figures: Figures, rows: Sequence[Row], profile: Profile, *, cards: int, stair_s: float
) -> Given:
    met = _failures(rows, stairs=len(figures.by_concurrency), stair_s=stair_s)
    stairs = tuple(
        _stair(each, cards, failed=causes.total()) for each, causes in zip(figures.by_concurrency, met, strict=True)
    )
    held = _held(stairs)
    at = max(0, held - 1)
    stable = stairs[at] if stairs else None
    turns = [
        row
        for row in rows
        if row.kind is Kind.TURN
        and row.failure is None
        and row.prompt_tokens
        and _at(row, stairs=len(stairs), stair_s=stair_s) == at
    ]
    return Given(
        step=step.name,
        change=step.change,
        basis=step.basis,
        stable_per_card=stairs[at].per_card if held else 0,
        fails_with=_failure(stairs[held], met[held]) if held < len(stairs) else "",
        ttft_p50_s=stable.ttft_p50_s if stable else None,
        ttft_p95_s=stable.ttft_p95_s if stable else None,
        tpot_p50_s=stable.tpot_p50_s if stable else None,
        cached_share=stable.cached_share if stable else None,
        prompt_tokens=_mean([turn.prompt_tokens for turn in turns]),
        computed_tokens=_mean([turn.prompt_tokens - (turn.cached_tokens or 0) for turn in turns]),
        session_gb=_session_gb(turns, profile),
        gpu_minutes_per_drill=DRILL_S / 60 / stairs[at].per_card if held else None,
        preemptions=figures.preemptions,
        stairs=stairs,
    )


def _stair(found: Slice, cards: int, *, failed: int) -> Stair:
    return Stair(
        per_card=float(found.key) / cards,
        turns=found.turns,
        failed=max(failed, found.failed),
        ttft_p50_s=found.ttft.p50,
        ttft_p95_s=found.ttft.p95,
        tpot_p50_s=found.tpot.p50,
        cached_share=found.cached_share,
    )


def _held(stairs: Sequence[Stair]) -> int:
    """How many of the lowest stairs held without a gap: what failed lower down is not made good higher up."""
    return next((at for at, stair in enumerate(stairs) if not stair.holds), len(stairs))


def _failures(rows: Iterable[Row], *, stairs: int, stair_s: float) -> list[Counter[str]]:
    """What turns and openings failed with, stair by stair."""
    met: list[Counter[str]] = [Counter() for _ in range(stairs)]
    for row in rows:
        if met and row.failure is not None and row.kind in _ASKED:
            met[_at(row, stairs=stairs, stair_s=stair_s)][row.failure] += 1
    return met


def _at(row: Row, *, stairs: int, stair_s: float) -> int:
    """Which stair it belongs to: the last also has what comes behind it."""
    return min(max(0, math.floor(row.started_s / stair_s)), stairs - 1)


def _failure(stair: Stair, causes: Counter[str]) -> str:
    if causes:
        ((worst, _),) = causes.most_common(1)
        return f"{stair.failed} of {max(stair.turns, stair.failed)} turns failed, most with {worst}"
    if stair.ttft_p95_s is None or not stair.turns:
        return "no turn was answered"
    return f"first token p95 {stair.ttft_p95_s:.1f} s"


def _session_gb(turns: Sequence[Row], profile: Profile) -> float | None:
    latest: dict[str, Row] = {}
    for turn in sorted(turns, key=lambda turn: turn.started_s):
        latest[turn.session] = turn
    tokens = _mean([turn.prompt_tokens + turn.completion_tokens for turn in latest.values()])
    return None if tokens is None else tokens * profile.memory.kv_bytes_per_token / _GB


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
