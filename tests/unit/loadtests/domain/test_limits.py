"""Which turns are good."""

import pytest

from loadtests.domain.limits import Limits
from loadtests.domain.rows import Row
from tests.support.load_rows import a_failed_turn, a_turn


@pytest.mark.parametrize(
    ("limits", "is_good"),
    [
        (Limits(), True),
        (Limits(ttft_s=0.5, e2e_s=2.5), True),
        (Limits(ttft_s=0.49), False),
        (Limits(e2e_s=2.4), False),
        (Limits(tpot_s=0.19), False),
        (Limits(tpot_s=0.21), True),
        (Limits(ttft_s=None, tpot_s=None, e2e_s=None), True),
    ],
)
def test_a_turn_is_good_within_all_limits_at_once(limits: Limits, *, is_good: bool) -> None:
    assert limits.are_met_by(a_turn()) is is_good


@pytest.mark.parametrize("turn", [a_failed_turn(), a_turn(failure="no_end"), a_turn(first_s=None, last_s=None)])
def test_what_failed_or_said_nothing_is_never_good(turn: Row) -> None:
    assert not Limits(ttft_s=None, e2e_s=None).are_met_by(turn)


def test_what_has_no_value_is_not_missed() -> None:
    assert Limits(tpot_s=0.01).are_met_by(a_turn(completion_tokens=1))
    assert Limits().are_met_by(a_turn(finish="cancelled", first_s=None, last_s=None))
