import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.fleet.domain.drill_cost import Tariff, drill_cost

TARIFF = Tariff(price_per_hour=3.0, drill_s=3600, lead_s=1800, drain_s=600, measured_start_s=150, safety=2.0)


def test_a_drill_by_hand() -> None:
    # 4 replicas x (30 + 60 + 10) minutes = 400 minutes = 6 h 40 min, at 3.00 an hour for 100 trainees.
    cost = drill_cost(TARIFF, replicas=4, trainees=100, lead_s=TARIFF.lead_s)
    assert cost.replica_hours == pytest.approx(400 / 60)
    assert cost.price == pytest.approx(20.0)
    assert cost.price_per_trainee == pytest.approx(0.2)
    assert cost.lead_share == pytest.approx(0.3)


def test_the_measured_lead_is_the_measured_time_and_its_safety() -> None:
    assert TARIFF.measured_lead_s == 300.0
    # 4 x (5 + 60 + 10) minutes = 5 hours.
    assert drill_cost(TARIFF, replicas=4, trainees=100, lead_s=300.0).price == pytest.approx(15.0)


def test_what_nobody_measured_is_not_told() -> None:
    unmeasured = Tariff(price_per_hour=3, drill_s=60, lead_s=0, drain_s=0, measured_start_s=None, safety=2)
    assert unmeasured.measured_lead_s is None


@given(st.integers(1, 100), st.floats(0, 10_000), st.floats(0, 10_000))
def test_a_longer_lead_never_costs_less(replicas: int, lead_s: float, more_s: float) -> None:
    shorter = drill_cost(TARIFF, replicas=replicas, trainees=10, lead_s=lead_s)
    longer = drill_cost(TARIFF, replicas=replicas, trainees=10, lead_s=lead_s + more_s)
    assert shorter.price <= longer.price
    assert shorter.lead_share <= longer.lead_share
