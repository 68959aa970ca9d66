"""What an answer that is no reply means."""

import pytest

from loadtests.users.caller import Caller
from loadtests.users.taken import Refusal, refusal
from tests.support.scripted_http import Scripted, scripted_http, whole


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (whole(503, {"code": "no_replica"}, Retry_After=2), Refusal("http_503", "no_replica", 2.0)),
        (whole(429, {"error": {"code": "account_limit"}}, Retry_After=1), Refusal("http_429", "account_limit", 1.0)),
        (whole(409, {"code": "session_busy"}, Retry_After=0), Refusal("http_409", "session_busy", 0.0)),
        (whole(503, {"code": "no_replica"}), Refusal("http_503", "no_replica", None)),
        (whole(503, [], Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"), Refusal("http_503", "", None)),
        (whole(500, {"error": "boom"}, Retry_After=1), Refusal("http_500", "", None)),
        (whole(400, {"error": {"code": "content_blocked"}}), Refusal("moderated", "content_blocked", None)),
    ],
)
def test_only_what_is_busy_and_says_until_when_is_waited_out(answer: Scripted, expected: Refusal) -> None:
    with scripted_http(answer) as server, Caller(server.url, key=None, patience_s=5) as caller:
        assert refusal(caller.send("GET", "/")) == expected
