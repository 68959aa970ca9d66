from http import HTTPStatus

import pytest
from starlette.types import Scope

from gateway.api.request_facts import begin, facts_of
from gateway.errors import BodyTooLarge
from gateway.problems import Problem, problem


def scope(*request_ids: bytes) -> Scope:
    return {"type": "http", "headers": [(b"x-request-id", value) for value in request_ids]}


@pytest.mark.parametrize("sent", [b"a", b"trace-7/9", b"x" * 128])
def test_a_callers_own_request_id_is_kept(sent: bytes) -> None:
    assert begin(scope(sent)).request_id == sent.decode()


@pytest.mark.parametrize(
    "sent", [(), (b"",), (b" ",), (b"two words",), (b"x" * 129,), (b"a\x00",), (b"\xfc",), (b"a\nb",), (b"a", b"b")]
)
def test_any_other_is_replaced_by_a_new_one(sent: tuple[bytes, ...]) -> None:
    ids = {begin(scope(*sent)).request_id for _ in range(2)}
    assert len(ids) == 2
    assert all(len(found) == 32 for found in ids)


def test_only_what_is_known_is_told() -> None:
    request = scope(b"r1")
    begin(request)
    assert facts_of(request).known() == {"request_id": "r1"}
    facts_of(request).session = "s1"
    facts_of(request).turn = 3
    assert facts_of(request).known() == {"request_id": "r1", "session": "s1", "turn": 3}


def test_a_refusal_is_told_by_its_code_and_the_limit_by_its_name() -> None:
    request = scope(b"r1")
    facts = begin(request)
    facts.refused(problem(BodyTooLarge(limit_bytes=9)))
    assert facts.known() == {"request_id": "r1", "code": "body_too_large"}
    facts.refused(Problem(HTTPStatus.TOO_MANY_REQUESTS, "account_limit", "", {"limit": "requests"}))
    assert facts.known() == {"request_id": "r1", "code": "account_limit", "limit": "requests"}
    facts.refused(Problem(HTTPStatus.CONFLICT, "turn_limit_reached", "", {"limit": 50}))
    assert facts.known() == {"request_id": "r1", "code": "turn_limit_reached"}
