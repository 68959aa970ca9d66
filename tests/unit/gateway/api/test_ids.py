from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from gateway.api.ids import NO_TURN, scenario_id_of, session_id_of, turn_number_of, uuid_of
from gateway.api.request_facts import begin, facts_of
from sessions.errors import ScenarioNotFound, SessionNotFound


@pytest.fixture
def request_() -> Request:
    request = Request({"type": "http", "headers": []})
    begin(request.scope)
    return request


@given(st.uuids())
def test_an_id_is_read_as_it_is_written(identity: UUID) -> None:
    assert uuid_of(str(identity)) == identity
    assert uuid_of(str(identity).upper()) == identity


def test_other_ways_to_write_an_id_are_none() -> None:
    identity = uuid4()
    for text in (identity.hex, f"{{{identity}}}", identity.urn, f" {identity}", f"{identity}\n", "", "\x00"):
        assert uuid_of(text) is None


def test_what_cannot_be_an_id_is_not_found(request_: Request) -> None:
    with pytest.raises(ScenarioNotFound):
        scenario_id_of("x")
    with pytest.raises(SessionNotFound):
        session_id_of(request_, "x")
    assert facts_of(request_.scope).session is None


def test_ids_are_noted_for_the_log(request_: Request) -> None:
    identity = uuid4()
    assert scenario_id_of(str(identity)) == identity
    assert session_id_of(request_, str(identity)) == identity
    assert turn_number_of(request_, "12") == 12
    assert (facts_of(request_.scope).session, facts_of(request_.scope).turn) == (str(identity), 12)


@pytest.mark.parametrize("text", ["0", "01", "-1", "1.0", "1e3", "", " 1", "1\n", "٣", "1234567890", "x"])
def test_what_cannot_be_a_number_is_that_of_no_turn(request_: Request, text: str) -> None:
    assert turn_number_of(request_, text) == NO_TURN
    assert facts_of(request_.scope).turn is None
