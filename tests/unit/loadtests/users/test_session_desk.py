"""Sessions are opened and closed, and what was stored is read page by page."""

from pathlib import Path

import pytest

from loadtests.domain.heard import digest_of
from loadtests.domain.part import Visit
from loadtests.domain.rows import Kind, Row
from loadtests.users.session_desk import SessionDesk
from tests.support.load_stage import rows_in, stage
from tests.support.scripted_http import Scripted, ScriptedHttp, scripted_http, streamed, whole

VISIT = Visit(opens_s=-3.0, asks=())


def opened(folder: Path, *answers: Scripted, timeout_s: float = 10.0) -> tuple[str | None, Row, ScriptedHttp]:
    with scripted_http(*answers) as server:
        here = stage(folder, server.url, timeout_s=timeout_s)
        with here.caller(1) as caller:
            session = SessionDesk(here, caller, trainee=1).opened(VISIT)
        here.book.close()
    (row,) = rows_in(folder)
    return session, row, server


def test_a_session_is_opened_in_the_scenario(tmp_path: Path) -> None:
    session, row, server = opened(tmp_path, whole(201, {"id": "s7"}))
    assert (session, row.kind, row.session, row.trainee, row.planned_s) == ("s7", Kind.OPEN, "s7", 1, -3.0)
    assert (row.status, row.failure, row.attempts) == (201, None, 1)
    assert server.requests[0].content == {"scenario_id": "a-scenario"}
    assert server.requests[0].headers["authorization"] == "Bearer key-1"


def test_what_is_refused_for_a_moment_or_lost_is_asked_again_under_the_same_key(tmp_path: Path) -> None:
    answers = (whole(503, {"code": "tenant_full"}, Retry_After=0), streamed(cuts=True), whole(201, {"id": "s7"}))
    session, row, server = opened(tmp_path, *answers)
    assert (session, row.failure, row.attempts, row.note) == ("s7", None, 3, "tenant_full lost")
    assert len({request.headers["idempotency-key"] for request in server.requests}) == 1


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (whole(404, {"code": "scenario_not_found"}), "http_404"),
        (whole(201, {}), "malformed"),
        (whole(503, {"code": "tenant_full"}, Retry_After=5), "timeout"),
    ],
)
def test_a_session_that_cannot_be_opened_says_why(tmp_path: Path, answer: Scripted, failure: str) -> None:
    session, row, _ = opened(tmp_path, answer, timeout_s=0.3)
    assert (session, row.failure) == (None, failure)


@pytest.mark.parametrize(
    "page",
    [{"items": [{"reply": "one"}]}, {"items": ["one"]}, {"items": [{"turn": "x", "reply": ""}]}, {"next_cursor": "c1"}],
)
def test_a_record_that_makes_no_sense_is_the_server_s_fault(tmp_path: Path, page: dict[str, object]) -> None:
    with scripted_http(*[whole(200, page)] * 3) as server:
        here = stage(tmp_path, server.url)
        with here.caller(0) as caller:
            SessionDesk(here, caller, trainee=0).audit("s7")
        here.book.close()
    (audit,) = rows_in(tmp_path)
    assert (audit.kind, audit.failure) == (Kind.AUDIT, "malformed")


def test_all_pages_of_what_was_stored_are_read(tmp_path: Path) -> None:
    pages = [
        whole(200, {"items": [{"turn": 1, "reply": "one"}], "next_cursor": "c1"}),
        whole(200, {"items": [{"turn": 2, "reply": "two"}], "next_cursor": None}),
    ]
    with scripted_http(whole(200, {}), *pages) as server:
        here = stage(tmp_path, server.url)
        with here.caller(0) as caller:
            desk = SessionDesk(here, caller, trainee=0)
            desk.close("s7")
            desk.audit("s7")
        here.book.close()
    close, audit = rows_in(tmp_path)
    assert (close.kind, close.failure, audit.kind, audit.failure) == (Kind.CLOSE, None, Kind.AUDIT, None)
    assert audit.stored == ((1, digest_of("one")), (2, digest_of("two")))
    assert [request.path for request in server.requests] == [
        "/v1/sessions/s7/close",
        "/v1/sessions/s7/turns?limit=100",
        "/v1/sessions/s7/turns?limit=100&cursor=c1",
    ]


def test_a_record_that_cannot_be_read_is_said_to_be_unread(tmp_path: Path) -> None:
    with scripted_http(whole(500, {"code": "internal_error"})) as server:
        here = stage(tmp_path, server.url)
        with here.caller(0) as caller:
            SessionDesk(here, caller, trainee=0).audit("s7")
        here.book.close()
    (audit,) = rows_in(tmp_path)
    assert (audit.failure, audit.stored, audit.note) == ("http_500", (), "internal_error")
