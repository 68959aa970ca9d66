import pytest

from gateway.cli.api_faults import ApiRefused, ApiSilent, ApiUnreachable


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
