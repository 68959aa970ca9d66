import pytest

from gateway.domain.limit_book import Limit, Verdict
from gateway.domain.limits import AccountLimits
from gateway.domain.quotas import quotas_of
from gateway.domain.refusals import check
from gateway.errors import AccountLimitReached, DrillAtWatermark, DrillFull, LimitsUnavailable, TenantFull
from sessions.errors import SessionBusy
from tests.support.limit_claims import request_of

QUOTAS = quotas_of(request_of(AccountLimits(requests_per_minute=60)))


def test_a_verdict_that_lets_in_says_what_is_left() -> None:
    assert [one.remaining for one in check(Verdict(backlogs=(10_000_000,)), QUOTAS)] == [50]


@pytest.mark.parametrize(
    ("limit", "error", "retry_after_s"),
    [
        (Limit.SESSION, SessionBusy, 2.0),
        (Limit.WATERMARK, DrillAtWatermark, 2.0),
        (Limit.TENANT, TenantFull, 30.0),
        (Limit.SEATS, DrillFull, 30.0),
    ],
)
def test_a_refusal_by_what_all_share_says_when_to_ask_again(
    limit: Limit, error: type[Exception], retry_after_s: float
) -> None:
    with pytest.raises(error) as refused:
        check(Verdict(limit, 9_000_000, (0,)), QUOTAS)
    assert vars(refused.value)["retry_after_s"] == retry_after_s


@pytest.mark.parametrize(
    ("limit", "retry_after_s"),
    [
        (Limit.REQUESTS, 9.5),
        (Limit.INPUT_TOKENS, 9.5),
        (Limit.OUTPUT_TOKENS, 9.5),
        (Limit.TURNS_IN_FLIGHT, 2.0),
    ],
)
def test_a_refusal_by_the_accounts_own_limit_names_it(limit: Limit, retry_after_s: float) -> None:
    with pytest.raises(AccountLimitReached) as refused:
        check(Verdict(limit, 9_500_000, (60_000_000,)), QUOTAS)
    assert (refused.value.limit, refused.value.retry_after_s) == (limit.value, retry_after_s)
    assert [one.remaining for one in refused.value.standing] == [0]


def test_a_claim_that_is_over_is_nobodys_refusal() -> None:
    with pytest.raises(LimitsUnavailable):
        check(Verdict(Limit.OVER, 0, (0,)), QUOTAS)
