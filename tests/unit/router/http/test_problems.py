"""What a caller is told when a request cannot be served."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from router import errors as carrying
from router.http import errors as refusals
from router.http.problems import BROKEN, KINDS, answer_to, event_of, kind_of

DOCUMENT = Path(__file__).parents[4] / "docs" / "router.md"
# They end inside the router, or go out as the engine put them.
INNER = {carrying.EngineRejected, carrying.FleetSourceUnavailable, carrying.StreamBroken, refusals.ClientLost}


def leaves(error: type[Exception]) -> Iterator[type[Exception]]:
    children = error.__subclasses__()
    if not children:
        yield error
    for child in children:
        yield from leaves(child)


def test_every_error_that_can_get_here_has_a_kind() -> None:
    ours = {leaf for root in (carrying.RouterError, refusals.RequestRefused) for leaf in leaves(root)}
    # Those of the fleet's controller are of a process that carries no turns.
    carried = {leaf for leaf in ours if re.match(r"router\.(?!fleet\.)", leaf.__module__)}
    assert carried - INNER <= set(KINDS)


def test_every_code_is_documented_with_its_status() -> None:
    text = DOCUMENT.read_text()
    for kind in KINDS.values():
        assert re.search(rf"\|\s*{kind.status}\s*\|\s*`{kind.code}`", text), kind.code


def test_an_error_is_told_in_openais_shape() -> None:
    answer = answer_to(carrying.ModelUnknown("gpt-9", served=("smollm2",)))
    assert answer.status == 404
    error = json.loads(answer.body)["error"]
    assert (error["type"], error["param"], error["code"]) == ("invalid_request_error", "model", "model_not_found")
    assert "gpt-9" in error["message"]


def test_who_finds_no_room_learns_the_place_and_when_to_come_again() -> None:
    answer = answer_to(carrying.NoRoom(waited_s=1.0, position=7, retry_after_s=2.2))
    assert answer.status == 503
    assert dict(answer.headers) == {b"retry-after": b"3", b"x-queue-position": b"7"}


@pytest.mark.parametrize(
    ("error", "status", "header"),
    [
        (carrying.NoReplicaAvailable(ready=0, known=2, retry_after_s=0.2), 503, (b"retry-after", b"1")),
        (carrying.EngineUnreachable("a", "refused"), 503, (b"retry-after", b"2")),
        (carrying.EngineTimedOut("a", "silent"), 504, (b"retry-after", b"2")),
        (refusals.MethodNotAllowed(("GET", "HEAD")), 405, (b"allow", b"GET, HEAD")),
        (refusals.Unauthenticated("no"), 401, (b"www-authenticate", b"Bearer")),
    ],
)
def test_headers_say_what_to_do_next(error: Exception, status: int, header: tuple[bytes, bytes]) -> None:
    answer = answer_to(error)
    assert (answer.status, answer.headers) == (status, (header,))


def test_the_engines_own_refusal_goes_out_as_it_came() -> None:
    answer = answer_to(carrying.EngineRejected("a", "told", status=422, body=b'{"error": {"message": "too long"}}'))
    assert (answer.status, answer.body) == (422, b'{"error": {"message": "too long"}}')
    without = answer_to(carrying.EngineRejected("a", "told", status=302))
    assert without.status == 400
    assert json.loads(without.body)["error"]["code"] == "engine_rejected"


def test_what_an_engine_said_of_itself_stays_inside() -> None:
    answer = answer_to(carrying.EngineBroke("a", "at http://10.0.0.1: secret words"))
    assert b"secret" not in answer.body
    assert json.loads(answer.body)["error"]["message"] == "replica a failed the request: engine broke"


def test_a_stream_that_cannot_go_on_ends_with_an_error_event() -> None:
    event = event_of(carrying.EngineTimedOut("a", "silent"))
    assert event.startswith(b"data: {")
    assert event.endswith(b"}\n\n")
    assert json.loads(event[6:])["error"]["code"] == "engine_timed_out"
    assert b"[DONE]" not in event


def test_what_nobody_foresaw_is_an_error_of_ours() -> None:
    assert kind_of(RuntimeError("no")) is BROKEN
    assert b"the router failed" in answer_to(RuntimeError("no")).body
