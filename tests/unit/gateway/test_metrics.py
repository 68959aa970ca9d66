"""What is counted, and that no label can grow without bound."""

from dataclasses import replace
from uuid import uuid4

from prometheus_client.parser import text_string_to_metric_families

from gateway.metrics import Metrics
from router.tally import RouterNumbers
from sessions.domain.session import SessionId
from sessions.domain.tiers import Tier
from sessions.domain.turn import Timings, Turn, TurnState, Usage
from sessions.use_cases.note_book import CompactionOutcome
from tests.support.counted_router import CountedRouter
from tests.support.session_fakes import START

TURN = Turn(
    session=SessionId(uuid4()),
    number=1,
    state=TurnState.COMPLETED,
    text="What the trainee said",
    reply="What the tutor said",
    started_at=START,
    ended_at=START,
    text_tokens=4,
    reply_tokens=4,
    usage=Usage(prompt_tokens=100, cached_tokens=80, completion_tokens=4),
    timings=Timings(queue_ms=1, ttft_ms=250, e2e_ms=900),
)


Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


async def samples(metrics: Metrics) -> Samples:
    families = text_string_to_metric_families((await metrics.text()).decode())
    return {(s.name, tuple(sorted(s.labels.items()))): s.value for family in families for s in family.samples}


async def test_turns_are_counted_by_their_end_and_their_tokens_by_source() -> None:
    metrics = Metrics()
    metrics.saw_turn(replace(TURN, continued=True))
    metrics.saw_turn(replace(TURN, state=TurnState.FAILED, usage=Usage(), timings=Timings(e2e_ms=10)))
    seen = await samples(metrics)
    assert seen["drillyard_turns_total", (("state", "completed"),)] == 1
    assert seen["drillyard_turns_total", (("state", "failed"),)] == 1
    assert seen["drillyard_turns_continued_total", ()] == 1
    assert seen["drillyard_prompt_tokens_total", (("source", "cached"),)] == 80
    assert seen["drillyard_prompt_tokens_total", (("source", "computed"),)] == 20
    assert seen["drillyard_turn_ttft_seconds_count", ()] == 1
    assert seen["drillyard_turn_seconds_count", ()] == 2


async def test_turns_are_counted_by_kind_of_work_and_by_the_model_that_served_them() -> None:
    metrics = Metrics()
    for fell_back in (False, True):
        metrics.saw_turn(replace(TURN, tier=Tier.ROLE_PLAY, model="a", fell_back=fell_back))
    metrics.saw_turn(replace(TURN, tier=Tier.SENSITIVE, model="b"))
    seen = await samples(metrics)
    assert seen["drillyard_tier_turns_total", (("model", "a"), ("tier", "role_play"))] == 2
    assert seen["drillyard_tier_turns_total", (("model", "b"), ("tier", "sensitive"))] == 1
    assert seen["drillyard_tier_fallbacks_total", (("model", "a"), ("tier", "role_play"))] == 1
    assert ("drillyard_tier_fallbacks_total", (("model", "b"), ("tier", "sensitive"))) not in seen


async def test_notes_are_counted_by_what_became_of_them() -> None:
    metrics = Metrics()
    for outcome in (CompactionOutcome.FOLDED, CompactionOutcome.FOLDED, CompactionOutcome.LATE):
        metrics.saw_compaction(outcome)
    seen = await samples(metrics)
    assert seen["drillyard_compactions_total", (("outcome", "folded"),)] == 2
    assert seen["drillyard_compactions_total", (("outcome", "late"),)] == 1


async def test_nothing_that_people_said_and_no_session_is_in_the_exposition() -> None:
    metrics = Metrics()
    metrics.saw_turn(TURN)
    metrics.saw_request(method="POST", route="/v1/sessions/{session_id}/turns", status=200)
    text = (await metrics.text()).decode()
    assert "said" not in text
    assert str(TURN.session) not in text


async def test_figures_are_read_when_somebody_looks() -> None:
    metrics, running = Metrics(), {"turns_running": 1.0}
    metrics.watch(gauges=lambda: running, counters=lambda: {"turn_lock_failures": 2})
    running["turns_running"] = 7
    seen = await samples(metrics)
    assert seen["drillyard_turns_running", ()] == 7
    assert seen["drillyard_turn_lock_failures_total", ()] == 2
    assert not any(name.startswith("drillyard_router") for name, _ in seen)


async def test_a_process_that_routes_tells_what_its_router_did() -> None:
    metrics = Metrics()
    metrics.watch_router(CountedRouter(RouterNumbers(retries=3)))
    assert (await samples(metrics))["drillyard_router_retries_total", ()] == 3
