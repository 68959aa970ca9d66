"""What is counted, and that no label can grow without bound."""

from dataclasses import replace
from uuid import uuid4

from prometheus_client.parser import text_string_to_metric_families

from gateway.metrics import Metrics
from sessions.domain.session import SessionId
from sessions.domain.turn import Timings, Turn, TurnState, Usage
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


def samples(metrics: Metrics) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    families = text_string_to_metric_families(metrics.text().decode())
    return {(s.name, tuple(sorted(s.labels.items()))): s.value for family in families for s in family.samples}


def test_turns_are_counted_by_their_end_and_their_tokens_by_source() -> None:
    metrics = Metrics()
    metrics.saw_turn(TURN)
    metrics.saw_turn(replace(TURN, state=TurnState.FAILED, usage=Usage(), timings=Timings(e2e_ms=10)))
    seen = samples(metrics)
    assert seen["drillyard_turns_total", (("state", "completed"),)] == 1
    assert seen["drillyard_turns_total", (("state", "failed"),)] == 1
    assert seen["drillyard_prompt_tokens_total", (("source", "cached"),)] == 80
    assert seen["drillyard_prompt_tokens_total", (("source", "computed"),)] == 20
    assert seen["drillyard_turn_ttft_seconds_count", ()] == 1
    assert seen["drillyard_turn_seconds_count", ()] == 2


def test_nothing_that_people_said_and_no_session_is_in_the_exposition() -> None:
    metrics = Metrics()
    metrics.saw_turn(TURN)
    metrics.saw_request(method="POST", route="/v1/sessions/{session_id}/turns", status=200)
    text = metrics.text().decode()
    assert "said" not in text
    assert str(TURN.session) not in text


def test_gauges_are_read_when_somebody_looks() -> None:
    metrics, running = Metrics(), {"count": 1.0}
    metrics.watch(lambda: {("turns_running", ""): running["count"], ("replica_ready", "replica-1"): 1.0})
    running["count"] = 7
    seen = samples(metrics)
    assert seen["drillyard_turns_running", (("replica", ""),)] == 7
    assert seen["drillyard_replica_ready", (("replica", "replica-1"),)] == 1
