"""A certificate that was given, and one that was not."""

from dataclasses import replace

from loadtests.domain.certificate import Answer, Certificate, Lived
from loadtests.domain.seat_search import Trial

CERTIFICATE = Certificate(
    answer=Answer.CERTIFIED,
    asked_seats=300,
    seats=300,
    ttft_s=1.5,
    ttft_p95_s=0.612,
    bell_ttft_p95_s=1.4,
    turns=10_000,
    failed=0,
    cold_share=0.012,
    cold={"moved": 90, "folded": 0, "evicted-for-fun": 30},
    moved_by_faults=90,
    drills_lost=2,
    drills_completed=298,
    gpu_hours=4.5,
    gpu_hours_per_drill=0.0151,
    cost_per_drill=0.0121,
    lived_through=(
        Lived(kind="kill", target="replica-1", at_s=120, mended_after_s=81),
        Lived(kind="redis-flush", target="redis", at_s=240, mended_after_s=None),
    ),
    uncaused=("a replica frozen: why",),
    why=(),
    reservations=("failure_share: too few",),
    trials=(
        Trial(seats=450, held=False, ttft_p95_s=float("inf")),
        Trial(seats=300, held=True, ttft_p95_s=0.612),
    ),
    is_simulated=True,
    valid_for={"fleet": "sim:9"},
    run_digest="abc",
)
NOT_GIVEN = replace(
    CERTIFICATE,
    answer=Answer.NOT_CERTIFIED,
    seats=0,
    ttft_p95_s=9.0,
    lived_through=(),
    cold={},
    trials=(),
    uncaused=(),
    reservations=(),
    why=("ttft_p95_s: 9, at most 1.5", "too few <replicas> were up"),
)
