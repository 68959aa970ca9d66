from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.tickets import Grant, kept_as, new_ticket, read_grant

SOMEBODY = UUID(int=7)


@given(st.uuids(), st.uuids(), st.uuids(), st.integers(1, 10**9))
def test_a_grant_comes_back_as_it_was_written(tenant, account, session, turn) -> None:  # type: ignore[no-untyped-def]
    grant = Grant(tenant, account, session, turn)
    assert read_grant(grant.written()) == grant


@pytest.mark.parametrize(
    "text", ["", "a", "a b c d", f"{SOMEBODY} {SOMEBODY} 1", f"{SOMEBODY} {SOMEBODY} {SOMEBODY} x"]
)
def test_what_we_have_not_written_grants_nothing(text: str) -> None:
    assert read_grant(text) is None


def test_a_grant_with_more_behind_it_grants_nothing() -> None:
    assert read_grant(Grant(uuid4(), uuid4(), uuid4(), 1).written() + " 2") is None


def test_a_ticket_is_thrown_anew_and_kept_under_another_name() -> None:
    first, second = new_ticket(lambda count: b"1" * count), new_ticket(lambda count: b"2" * count)
    assert first != second
    assert len(first) == 43
    assert kept_as(first) != kept_as(second)
    assert first not in kept_as(first)
