"""How figures, and the absence of figures, are shown."""

import io

from rich.console import Console

from gateway.cli.fleet_view import decision_lines, drain_line, fleet_table
from gateway.cli.fleet_wire import DecisionView, DrainView, ReplicaView

DRAIN = DrainView(acknowledged=1, missing=1, in_flight=0, sessions_left=None, seconds_left=-2, may_stop=False)


def shown(*replicas: ReplicaView) -> str:
    out = io.StringIO()
    Console(file=out, width=200).print(fleet_table(replicas), markup=False)
    return out.getvalue()


def test_a_drain_past_its_deadline_says_so() -> None:
    assert drain_line(DRAIN) == "heard by 1 of 2 routers, ? sessions and 0 turns left, past its deadline"


def test_a_figure_that_nobody_knows_is_a_question_mark() -> None:
    table = shown(ReplicaView(id="a", health="ready", kv_capacity_tokens=9))
    assert "? of 9" in table


def test_a_lost_replica_that_is_drained_is_lost_above_all() -> None:
    table = shown(ReplicaView(id="a", health="down", is_draining=True, drain=DRAIN))
    assert " down " in table


def test_a_decision_without_a_pin_or_candidates_is_short() -> None:
    lines = list(decision_lines(DecisionView(turn_id="t-1", model="m", pin="none")))
    assert lines == ["turn t-1: m, pin none"]
