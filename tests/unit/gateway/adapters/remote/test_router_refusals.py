"""What the router's codes mean here."""

import pytest

from gateway.adapters.remote.router_refusals import code_of, refusal
from router.errors import (
    EngineBroke,
    EngineBusy,
    EngineRejected,
    EngineTimedOut,
    EngineUnreachable,
    ModelUnknown,
    NoReplicaAvailable,
    NoRoom,
)
from router.http.problems import KINDS
from tests.support.scripted_line import ScriptedAnswer, error


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (503, "no_replica_available", NoReplicaAvailable),
        (503, "no_room", NoRoom),
        (404, "model_not_found", ModelUnknown),
        (503, "engine_unreachable", EngineUnreachable),
        (503, "engine_busy", EngineBusy),
        (504, "engine_timed_out", EngineTimedOut),
        (502, "engine_broke", EngineBroke),
        (401, "unauthenticated", EngineUnreachable),
        (403, "forbidden", EngineUnreachable),
    ],
)
async def test_a_code_is_the_error_it_was(status: int, code: str, expected: type[Exception]) -> None:
    answer = ScriptedAnswer([error(code)], code=status, headers={"retry-after": "soon"})
    found = await refusal(answer, model="smollm2")
    assert type(found.error) is expected
    assert found.is_final
    assert answer.is_closed
    assert getattr(found.error, "retry_after_s", 2.0) == 2.0


def test_each_of_the_router_s_own_refusals_of_a_turn_is_known() -> None:
    """A code that is added there has to be thought of here."""
    turned = {kind.code for kind in KINDS.values()} - {
        *("invalid_request", "not_found", "method_not_allowed", "body_too_large", "unsupported_media_type"),
        *("replica_not_found", "replica_invalid", "replica_in_use", "pin_store_unavailable"),
        *("board_unavailable", "decisions_unavailable"),
    }
    from gateway.adapters.remote.router_refusals import _ERRORS  # noqa: PLC0415  the table itself is the subject

    assert turned == set(_ERRORS)


async def test_the_engine_s_own_refusal_is_passed_on() -> None:
    body = b'{"object":"error","message":"too long","code":400}'
    found = await refusal(ScriptedAnswer([body], code=400), model="smollm2")
    assert isinstance(found.error, EngineRejected)
    assert (found.error.status, found.error.body, found.is_final) == (400, body, True)


@pytest.mark.parametrize("script", [[b"<html>"], [], [EngineBroke("router", "cut")]])
async def test_what_no_router_said_may_be_tried_again(script: list[bytes | Exception]) -> None:
    found = await refusal(ScriptedAnswer(script, code=502), model="smollm2")
    assert not found.is_final


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"error":1}', b'{"error":{"code":1}}', b"[" * 100_000])
def test_a_body_without_a_code_has_none(body: bytes) -> None:
    assert code_of(body) == ""
