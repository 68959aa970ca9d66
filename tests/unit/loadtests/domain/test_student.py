"""Quantiles as they stand in printed tables."""

import pytest

from loadtests.domain.student import quantile


@pytest.mark.parametrize(
    ("freedom", "level", "printed"),
    [
        (1, 0.95, 12.706),
        (2, 0.95, 4.303),
        (4, 0.95, 2.776),
        (10, 0.95, 2.228),
        (30, 0.95, 2.042),
        (120, 0.95, 1.980),
        (1, 0.5, 1.0),
        (2, 0.999, 31.599),
        (1_000, 0.95, 1.960),
    ],
)
def test_quantiles_are_those_of_the_tables(freedom: int, level: float, printed: float) -> None:
    assert quantile(freedom, level) == pytest.approx(printed, abs=0.0006)
