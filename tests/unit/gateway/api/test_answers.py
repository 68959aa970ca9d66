import json
from http import HTTPStatus

from gateway.api.answers import answer, problem_answer
from gateway.api.views import LivenessView
from gateway.problems import problem
from sessions.errors import SessionBusy


def test_an_answer_is_json_that_nobody_may_keep() -> None:
    response = answer(LivenessView(status="好", instance="1"), HTTPStatus.CREATED, headers={"Location": "/there"})
    assert response.status_code == 201
    assert response.body == '{"status":"好","instance":"1"}'.encode()
    assert response.headers["content-type"] == "application/json"
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["location"] == "/there"


def test_a_problem_has_its_own_type_and_headers() -> None:
    response = problem_answer(problem(SessionBusy(retry_after_s=3)), headers={"X-Replica-ID": "r1"})
    assert response.status_code == 409
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["retry-after"] == "3"
    assert response.headers["x-replica-id"] == "r1"
    assert json.loads(bytes(response.body))["code"] == "session_busy"
