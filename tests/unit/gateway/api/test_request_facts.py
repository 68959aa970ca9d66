import pytest
from starlette.types import Scope

from gateway.api.request_facts import begin, facts_of


def scope(*request_ids: bytes) -> Scope:
    return {"type": "http", "headers": [(b"x-request-id", value) for value in request_ids]}


@pytest.mark.parametrize("sent", [b"a", b"trace 7/9", b"~" * 128])
def test_a_callers_own_request_id_is_kept(sent: bytes) -> None:
    assert begin(scope(sent)).request_id == sent.decode()


@pytest.mark.parametrize(
    "sent", [(), (b"",), (b" ",), (b"~" * 129,), (b"a\x00",), (b"\xfc",), (b"a\nb",), (b"a", b"b")]
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
