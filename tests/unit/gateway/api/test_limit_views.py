import pytest

from gateway.api.body import RequestInvalid, taken
from gateway.api.limit_views import TenantLimitsBody


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "7", "none", 2_000_000_001, [], {}])
def test_a_limit_that_cannot_be_is_refused_by_its_name_in_one_sentence(value: object) -> None:
    with pytest.raises(RequestInvalid) as caught:
        taken(TenantLimitsBody, {"turns_in_flight": value, "sessions": 3})
    [(field, reason)] = caught.value.faults
    assert (field, reason) == ("turns_in_flight", "a limit is a whole number from 1 to 2000000000, or 'unlimited'")


@pytest.mark.parametrize("value", [1, 2_000_000_000, "unlimited", None])
def test_others_are_taken_as_they_are(value: object) -> None:
    assert taken(TenantLimitsBody, {"sessions": value}).of_tenant().sessions == value
