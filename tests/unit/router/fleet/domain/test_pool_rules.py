"""Senseless figures of a pool are refused."""

from collections.abc import Mapping
from typing import Any

import pytest

from router.fleet.domain.pool_rules import PoolRules


@pytest.mark.parametrize(
    ("figures", "told"),
    [
        ({"seats_per_replica": 0}, "has seats"),
        ({"starts_at_once": 0}, "one start"),
        ({"minimum": 5}, "from 5 to 4"),
        ({"minimum": -1}, "from -1 to 4"),
        ({"reserve": -1}, "reserve"),
        ({"spare_starts": -1}, "reserve"),
        ({"safety": 0.9}, "safety"),
        ({"lead_s": -1.0}, "span"),
        ({"unmeasured_start_s": -1.0}, "span"),
        ({"retry_s": -1.0}, "span"),
        ({"longest_retry_s": -1.0}, "span"),
        ({"alert_s": 0.0}, "before the bell"),
    ],
)
def test_senseless_figures_are_refused(figures: Mapping[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        PoolRules(**{"seats_per_replica": 10, "maximum": 4, **figures})


def test_by_default_a_class_has_its_replicas_half_an_hour_ahead() -> None:
    assert PoolRules(seats_per_replica=10, maximum=4).lead_s == 30 * 60
