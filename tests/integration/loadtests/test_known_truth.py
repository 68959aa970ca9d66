"""The figures of a drill, held against what the simulated replica knows and what others measured of the same run."""

import asyncio
import math
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from loadtests.conduct.locust_process import LocustProcess
from loadtests.conduct.watch import Watch
from loadtests.domain.drill import Drill, Shape, Wire
from loadtests.domain.figures import Figures, Spread
from loadtests.domain.figuring import figures_of
from loadtests.domain.limits import Limits
from loadtests.domain.rows import Row
from loadtests.domain.targets import DEFAULT
from loadtests.domain.timetable import timetable
from loadtests.domain.verdict import Whole, judge
from loadtests.run_files import read_lag, read_replicas, read_rows, write_object
from loadtests.run_folder import RunFolder
from loadtests.simulator.domain.profile import DecodeCost, PrefillCost
from loadtests.simulator.profile_files import text_of
from loadtests.target import Replica, Target
from loadtests.trainee_lines import line
from tests.support.loopback_server import until
from tests.support.observed_line import ObservedTurn, observed
from tests.support.plain_trainee import PlainTurn, play
from tests.support.simulated import LIMITS, MEMORY, SMALL
from tests.support.simulator_process import SimulatorProcess

pytestmark = pytest.mark.alone

TURNS, TOKENS = 18, 3
REFUSED = (4, 2)
"""The turn of one trainee that nobody else says the words of."""
DRILL = Drill(
    shape=Shape.CLASS,
    wire=Wire.CHAT,
    trainees=6,
    turns=(3, 3),
    think_s=0.3,
    allowance_s=1.4,
    lobby_s=0.0,
    reaction_s=0.5,
    reply_tokens=TOKENS,
    timeout_s=20.0,
)
PROFILE = replace(
    SMALL,
    prefill=PrefillCost(base_ms=150, per_token_ms=1, per_pair_ms=0),
    decode=DecodeCost(weights_ms=300, per_sequence_ms=1),
    memory=replace(MEMORY, total_bytes=100_000),
    limits=replace(LIMITS, window_tokens=1024, max_batched_tokens=1024),
)
LEAD_S = 4.0
"""Locust and its workers have to be there at the bell."""
STALL_AT_S, STALL_S = 1.2, 1.2
SHARE = 0.02
REACH_S = 0.003
"""What the replica cannot know: the way of a request to it, and of a first text back, through two HTTP parsers. On a
machine that is busy with other things it is longer, and then the independent client finds it longer too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    figures: Figures
    rows: Sequence[Row]
    truth: Mapping[str, Sequence[Mapping[str, Any]]]
    """What the replica recorded of each session, in its order; times since the bell."""
    plain: Sequence[PlainTurn]
    """What an independent client measured meanwhile, at the same replica."""
    observed: Sequence[ObservedTurn]
    """What passed on the line of the trainees, stamped by somebody else; without the turn that was refused."""

    @property
    def reach_s(self) -> float:
        beside = zip(self.plain, self.truth["plain"], strict=True)
        return max(REACH_S, *(turn.ttft_s - float(true["first_token_s"] - true["at_s"]) for turn, true in beside))


@dataclass(frozen=True, slots=True, kw_only=True)
class Both:
    """The same drill twice, at a replica each."""

    alone: Played
    together: Played


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    folder = tmp_path_factory.mktemp("known")
    profile = folder / "profile.json"
    profile.write_text(text_of(PROFILE))
    arguments = ("--profile", str(profile), "--speed-up", "1", "--load-s", "0", "--enable-prompt-tokens-details")
    with ExitStack() as stack:
        replicas = [stack.enter_context(closing(SimulatorProcess(*arguments))) for _ in range(2)]
        for replica in replicas:
            replica.wait_until("ready")
        bell_at = time.time() + LEAD_S
        alone, together = asyncio.run(_both(replicas, folder, bell_at))
    return Both(alone=alone, together=together)


async def _both(replicas: Sequence[SimulatorProcess], folder: Path, bell_at: float) -> list[Played]:
    # What is done after a drill would hold up the line of the other one.
    over = asyncio.Barrier(len(replicas))
    plays = (
        _play(replica, RunFolder(folder / f"by-{workers}"), workers, bell_at, over)
        for replica, workers in zip(replicas, (1, 2), strict=True)
    )
    return await asyncio.gather(*plays)


async def _play(
    replica: SimulatorProcess, run: RunFolder, workers: int, bell_at: float, over: asyncio.Barrier
) -> Played:
    replica.script(" ".join(f"word{n}" for n in range(99)))
    replica.fault(kind="refuse", last=line(*REFUSED, run=int(bell_at) % 100_000), status=500)
    replica.fault(kind="freeze", from_s=bell_at - time.time() + STALL_AT_S, for_s=STALL_S)
    run.path.mkdir()
    write_object(run.drill, DRILL.as_json())
    async with observed(replica.url) as passed:
        seen = Target(base_urls=(replica.url,), replicas=(Replica("replica-1", replica.url),))
        aim = Target(base_urls=(passed.url,), replicas=(Replica("replica-1", passed.url),))
        with (
            Watch(seen, run, clock=lambda: time.time() - bell_at),
            LocustProcess(run, aim, bell_at=bell_at, workers=workers) as locust,
        ):
            plain = await _plain(replica, bell_at)
            await until(lambda: locust.exit_code is not None, "it did not end", within_s=20.0)
            assert locust.exit_code == 0, locust.last_words()
            await over.wait()
    rows = read_rows(run)
    return Played(
        figures=figures_of(rows, drill=DRILL, lag=read_lag(run), replicas=read_replicas(run)),
        rows=rows,
        truth=_truth(replica, bell_at),
        plain=plain,
        observed=[turn for turn in passed.turns if turn.text_at],
    )


async def _plain(replica: SimulatorProcess, bell_at: float) -> list[PlainTurn]:
    """At the times of the first trainee, so that it meets the same stall."""
    asks = timetable(DRILL)[0].visits[0].asks
    lines = [(bell_at + ask.at_s, line(7, turn, run=0)) for turn, ask in enumerate(asks, start=1)]
    return await play(replica.url, model="smollm2", session="plain", lines=lines, reply_tokens=TOKENS)


def _truth(replica: SimulatorProcess, bell_at: float) -> dict[str, list[dict[str, Any]]]:
    looks = []
    for _ in range(5):
        before, now_s, after = time.time(), replica.state()["now_s"], time.time()
        looks.append((after - before, (before + after) / 2 - now_s - bell_at))
    since_bell_s = min(looks)[1]
    sessions: dict[str, list[dict[str, Any]]] = {}
    for record in replica.requests():
        times = {name: _or_never(record[name]) + since_bell_s for name in ("at_s", "first_token_s", "ended_s")}
        sessions.setdefault(record["session"], []).append({**record, **times})
    return sessions


def _or_never(at_s: float | None) -> float:
    return math.inf if at_s is None else at_s


@pytest.fixture(scope="module", params=["alone", "together"])
def played(request: pytest.FixtureRequest, both: Both) -> Played:
    found: Played = getattr(both, request.param)
    return found


def true_turns(played: Played) -> list[dict[str, Any]]:
    """Each turn as the replica saw it, with the plan that the timetable has for it."""
    found = []
    for part in timetable(DRILL):
        (session,) = {row.session for row in played.rows if row.trainee == part.trainee}
        records = played.truth[session]
        found += [
            {**record, "planned_s": ask.at_s, "turn": turn}
            for turn, (record, ask) in enumerate(zip(records, part.visits[0].asks, strict=True), start=1)
        ]
    return found


def answered(played: Played) -> list[dict[str, Any]]:
    return [turn for turn in true_turns(played) if turn["first_token_s"] < math.inf]


def close(value: float | None, truth: float, reach_s: float = REACH_S) -> bool:
    return value is not None and (value == truth or abs(value - truth) <= SHARE * truth + reach_s)


def assert_spread(spread: Spread, truth: Sequence[float], reach_s: float = REACH_S) -> None:
    assert spread.count == len(truth)
    ranked = sorted(truth)
    for name, share in (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("worst", 1.0)):
        true = ranked[math.ceil(share * len(ranked)) - 1]
        assert close(getattr(spread, name), true, reach_s), f"{name} is {getattr(spread, name)}, and {true} in truth"
    finite = [value for value in truth if value < math.inf]
    true = sum(finite) / len(finite)
    assert close(spread.mean, true, reach_s), f"the mean is {spread.mean}, and {true} in truth"


def test_every_time_is_what_the_replica_knows(played: Played) -> None:
    figures, turns, reach_s = played.figures, true_turns(played), played.reach_s
    assert_spread(figures.ttft, [turn["first_token_s"] - turn["at_s"] for turn in turns], reach_s)
    assert_spread(figures.e2e, [turn["ended_s"] - turn["at_s"] for turn in turns], reach_s)
    assert_spread(figures.ttft_planned, [turn["first_token_s"] - turn["planned_s"] for turn in turns])
    assert_spread(figures.e2e_planned, [turn["ended_s"] - turn["planned_s"] for turn in turns])
    per_token = [(turn["ended_s"] - turn["first_token_s"]) / (TOKENS - 1) for turn in answered(played)]
    assert_spread(figures.tpot, [*per_token, math.inf], reach_s)
    for part in figures.by_turn:
        assert_spread(part.ttft, [t["first_token_s"] - t["at_s"] for t in turns if t["turn"] == part.key], reach_s)


def test_every_count_is_what_the_replica_knows(played: Played) -> None:
    figures = played.figures
    assert (figures.turns, figures.sessions, figures.completed) == (TURNS, 6, 6)
    assert (figures.failures, len(answered(played))) == ({"http_500": 1}, TURNS - 1)
    for name in ("prompt_tokens", "cached_tokens", "completion_tokens"):
        assert getattr(figures, name) == sum(turn[name] for turn in answered(played))
    assert (figures.warm_turns, figures.cold, figures.affinity_broken) == (11, {}, 0)
    assert sum(part.turns for part in figures.over_time) == TURNS


def test_what_was_seen_of_the_replica_is_joined_with_its_turns(played: Played) -> None:
    (replica,) = played.figures.by_replica
    assert (replica.key, replica.turns, replica.sessions, replica.preemptions) == ("replica-1", TURNS - 1, 6, 0)
    assert replica.kv_usage == played.figures.kv_usage_most
    assert replica.kv_usage
    assert played.figures.replica_seconds
    assert played.figures.replica_seconds > played.figures.duration_s


def test_every_rate_is_what_the_replica_knows(played: Played) -> None:
    figures, turns = played.figures, answered(played)
    lasted_s = max(turn["ended_s"] for turn in turns) - min(turn["planned_s"] for turn in turns)
    assert close(figures.duration_s, lasted_s)
    assert close(figures.turns_per_s, len(turns) / lasted_s)
    assert close(figures.output_tokens_per_s, len(turns) * TOKENS / lasted_s)


def test_goodput_is_what_the_replica_knows(played: Played) -> None:
    """At a limit that no turn comes near, so that it is not a few milliseconds that decide."""
    waited = sorted(turn["first_token_s"] - turn["at_s"] for turn in answered(played))
    _, limit_s = max((after - before, (before + after) / 2) for before, after in pairwise(waited))
    figures = figures_of(played.rows, drill=DRILL, targets=Limits(ttft_s=limit_s))
    assert figures.good_turns == sum(1 for wait_s in waited if wait_s < limit_s)
    assert figures.goodput_per_s == figures.good_turns / figures.duration_s


def test_a_stall_shows_from_the_plan_also_for_turns_that_were_sent_after_it(played: Played) -> None:
    """Those turns were quick, once their trainees could send them at all: from their first byte they look well."""
    over_s = STALL_AT_S + STALL_S
    kept = [
        (row.ttft_s, row.ttft_planned_s)
        for row in played.rows
        if row.planned_s < over_s <= row.started_s and row.failure is None
    ]
    assert any(planned_s > ttft_s + 0.2 for ttft_s, planned_s in kept if ttft_s and planned_s)
    figures = played.figures
    assert figures.ttft_planned.p50 > figures.ttft.p50  # type: ignore[operator]
    assert figures.longest_gap.worst is not None
    assert figures.longest_gap.worst >= STALL_S  # some replies stood still in their midst


def test_an_independent_observer_of_the_same_run_measures_the_same(played: Played) -> None:
    """Of every turn, and with what the replica itself does not record: the pauses between chunks."""
    for measure in ("ttft", "e2e", "tpot", "longest_gap"):
        heard_s = [getattr(turn, f"{measure}_s") for turn in played.observed]
        assert_spread(getattr(played.figures, measure), [*heard_s, math.inf])


def test_two_workers_give_the_figures_of_one(both: Both) -> None:
    alone, together = both.alone.figures, both.together.figures
    assert {row.worker for row in both.alone.rows} != {row.worker for row in both.together.rows}
    assert len({row.worker for row in both.together.rows}) == 2
    for name in ("turns", "failed", "sessions", "completed", "completion_tokens", "warm_turns", "cold"):
        assert getattr(alone, name) == getattr(together, name)
    assert [part.turns for part in alone.by_turn] == [part.turns for part in together.by_turn]
    for measure in ("ttft", "ttft_planned", "e2e", "tpot", "longest_gap"):
        assert getattr(together, measure).mean == pytest.approx(getattr(alone, measure).mean, rel=0.1)


def test_a_run_without_a_request_does_not_pass() -> None:
    nothing = judge(figures_of([], drill=DRILL), DEFAULT, drill=DRILL, spoiled=())
    assert nothing.whole is not Whole.PASSED
    assert nothing.exit_code != 0
