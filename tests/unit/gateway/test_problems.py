import re
from http import HTTPStatus
from pathlib import Path

import pytest

from gateway.errors import BodyTooLarge, FieldInvalid, Forbidden, ServerStopping, Unauthenticated
from gateway.problems import UNKNOWN_PATH, codes, failed_turn, invalid, plain, problem
from router.errors import NoReplicaAvailable
from sessions.errors import (
    RecordsUnavailable,
    ScenarioInvalid,
    SessionBusy,
    SessionMoved,
    TextTooLong,
    TutorUnavailable,
)

ROW = re.compile(r"^\| `(\w+)` \| (\d+) \|", re.MULTILINE)


def test_a_code_has_one_status() -> None:
    assert all(len(statuses) == 1 for statuses in codes().values())


def test_the_documentation_lists_every_code_with_its_status() -> None:
    text = (Path(__file__).parents[3] / "docs" / "errors.md").read_text()
    documented = {code: {HTTPStatus(int(status))} for code, status in ROW.findall(text)}
    assert documented == codes()


def test_a_problem_shows_the_facts_of_its_error() -> None:
    body = problem(TextTooLong(tokens=900, limit=768)).body()
    assert body == {
        "type": "urn:drillyard:problem:text_too_long",
        "title": "Text too long",
        "status": 413,
        "detail": "the message has 900 tokens; the limit is 768",
        "code": "text_too_long",
        "tokens": 900,
        "limit": 768,
    }
    assert problem(BodyTooLarge(limit_bytes=7)).body()["limit_bytes"] == 7
    assert problem(Forbidden("trainee", "write scenarios")).body()["role"] == "trainee"


def test_a_wrong_field_is_listed() -> None:
    for error in (FieldInvalid("cursor", "it is wrong"), ScenarioInvalid("cursor", "it is wrong")):
        found = problem(error)
        assert (found.status, found.code) == (422, "invalid_request")
        assert found.body()["errors"] == [{"field": "cursor", "detail": "it is wrong"}]
        assert found.detail == "cursor: it is wrong"


def test_several_wrong_fields_are_counted() -> None:
    assert invalid([("a", "x"), ("b", "y"), ("c", "z")]).detail == "a: x (and 2 more)"


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (SessionBusy(retry_after_s=0.2), "1"),
        (SessionBusy(retry_after_s=2.0), "2"),
        (TutorUnavailable("no", retry_after_s=2.1), "3"),
        (NoReplicaAvailable(ready=0, known=2, retry_after_s=5), "5"),
        (RecordsUnavailable("no"), "1"),
        (ServerStopping("no"), "1"),
        (SessionMoved("no"), None),
    ],
)
def test_whoever_may_come_again_is_told_when(error: Exception, seconds: str | None) -> None:
    assert problem(error).headers().get("Retry-After") == seconds


def test_what_fails_inside_tells_nothing_of_the_inside() -> None:
    for error in (
        RecordsUnavailable("host db-7"),
        TutorUnavailable("host db-7", retry_after_s=1),
        OSError("host db-7"),
    ):
        assert "db-7" not in str(problem(error).body())
    assert problem(OSError()).status == 500


def test_an_error_without_words_has_those_of_its_kind() -> None:
    found = problem(Unauthenticated())
    assert found.detail.startswith("No key")
    assert found.headers()["WWW-Authenticate"].startswith("Bearer")


def test_a_kind_of_a_known_error_is_known() -> None:
    class Nearly(SessionMoved):
        pass

    assert problem(Nearly()).code == "session_moved"


def test_an_unknown_path_is_a_problem_too() -> None:
    assert plain(UNKNOWN_PATH).body()["code"] == "not_found"


@pytest.mark.parametrize(
    ("code", "status"),
    [("tutor_broke", 502), ("turn_failed", 502), ("unheard_of", 502), ("records_unavailable", 503)],
)
def test_a_failed_turn_has_the_status_of_its_code(code: str, status: int) -> None:
    found = failed_turn(3, code, "it broke", retryable=True)
    assert found.status == status
    assert (found.body()["turn"], found.body()["retryable"]) == (3, True)
    assert found.headers() == {"Retry-After": "1"}
    assert failed_turn(3, code, "it broke", retryable=False).headers() == {}
