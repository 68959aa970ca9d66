import ssl

import pytest

from gateway.cli.api_faults import ApiRefused, ApiSilent, ApiUnreachable, ApiUntrusted, unreached


@pytest.mark.parametrize(
    ("status", "retry_after_s", "expected"),
    [(503, 2.0, True), (409, 0.0, True), (503, None, False), (409, None, False), (429, 2.0, False), (500, 2.0, False)],
)
def test_only_a_refusal_for_a_named_moment_may_be_retried(
    status: int, retry_after_s: float | None, expected: bool
) -> None:
    refusal = ApiRefused(status=status, code="x", detail="y", retry_after_s=retry_after_s)
    assert refusal.may_be_retried is expected


def test_each_fault_says_what_to_do_where_something_can_be_done() -> None:
    assert "make demo" in str(ApiUnreachable("http://127.0.0.1:9"))
    assert "--key" in str(ApiRefused(status=401, code="unauthenticated", detail="no", retry_after_s=None))
    assert str(ApiSilent(60.0)) == "no answer within 60 s"


def test_what_stopped_a_connection_is_found_below_what_wraps_it() -> None:
    refused = OSError("outside")
    refused.__cause__ = ConnectionError("between")
    assert isinstance(unreached("https://here", refused), ApiUnreachable)
    refused.__cause__.__context__ = ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number")
    assert isinstance(unreached("https://here", refused), ApiUntrusted)
