"""How simulated starts go."""

import pytest

from router.fleet.domain.cold_starts import ColdStarts


@pytest.mark.parametrize(
    "wrong",
    [{"fastest_s": 90.0, "slowest_s": 60.0}, {"fastest_s": 0.0}, {"failure_rate": 1.1}, {"failure_rate": -0.1}],
)
def test_figures_that_contradict_each_other_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"start|rate"):
        ColdStarts(**wrong)
