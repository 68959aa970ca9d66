"""Decisions survive the way through JSON, and nothing else is taken for one."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.domain.decision import Attempt, Candidate, Decision
from router.domain.decision_json import decision_from_json, decision_to_json
from router.domain.fleet import ReplicaId
from router.domain.pin import PinDecision

replicas = st.text(max_size=20).map(ReplicaId)
figures = st.none() | st.integers(0, 1_000_000)
candidates = st.builds(Candidate, replicas, figures, figures, figures, st.sampled_from(["", "full", "满"]))
attempts = st.builds(Attempt, replicas, st.text(max_size=20), st.text(max_size=9), st.text(max_size=9), st.booleans())
decisions = st.builds(
    Decision,
    request_id=st.text(max_size=40),
    model=st.text(max_size=20),
    at=st.floats(0, 2e9),
    pin=st.sampled_from(PinDecision),
    generation=st.integers(0, 99),
    waited_ms=st.floats(0, 1e6),
    candidates=st.lists(candidates, max_size=3).map(tuple),
    attempts=st.lists(attempts, max_size=3),
)
DECISION = Decision("r", "m", 1.5, candidates=(Candidate(ReplicaId("a")),), attempts=[Attempt(ReplicaId("a"), "new")])


@given(decisions)
def test_what_is_written_is_read(decision: Decision) -> None:
    assert decision_from_json(decision_to_json(decision)) == decision


def test_whole_seconds_are_a_time_too() -> None:
    assert decision_from_json(decision_to_json(Decision("r", "m", 1))).at == 1.0


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"{}", b"null", b"\xff", b"[" * 100_000])
def test_what_is_no_decision_is_an_error(text: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - which one does not matter
        decision_from_json(text)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("request_id", 1),
        ("at", "1"),
        ("at", True),
        ("pin", "never"),
        ("generation", 1.5),
        ("generation", True),
        ("candidates", {}),
        ("candidates", [{}]),
        ("attempts", [1]),
        ("more", 1),
    ],
)
def test_a_field_of_another_type_is_an_error(field: str, value: object) -> None:
    fields = json.loads(decision_to_json(DECISION)) | {field: value}
    with pytest.raises(ValueError):  # noqa: PT011 - which one does not matter
        decision_from_json(json.dumps(fields).encode())


@pytest.mark.parametrize(("part", "field"), [("candidates", "refused"), ("attempts", "continued")])
def test_a_part_of_another_type_is_an_error(part: str, field: str) -> None:
    fields = json.loads(decision_to_json(DECISION))
    fields[part][0][field] = 1
    with pytest.raises(ValueError, match=field):
        decision_from_json(json.dumps(fields).encode())
