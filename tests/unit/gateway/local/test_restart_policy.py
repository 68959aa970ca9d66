from hypothesis import given
from hypothesis import strategies as st

from gateway.local.restart_policy import (
    FIRST_DELAY_S,
    LONGEST_DELAY_S,
    MOST_DEATHS,
    WINDOW_S,
    GiveUp,
    Restart,
    after_death,
)


def deaths_at(moments: list[float]) -> list[Restart | GiveUp]:
    earlier: tuple[float, ...] = ()
    decisions: list[Restart | GiveUp] = []
    for now in moments:
        decisions.append(after_death(earlier, now=now))
        match decisions[-1]:
            case Restart(_, deaths):
                earlier = deaths
            case GiveUp():
                break
    return decisions


def delays(decisions: list[Restart | GiveUp]) -> list[float]:
    return [one.after_s for one in decisions if isinstance(one, Restart)]


def test_the_wait_doubles_from_half_a_second() -> None:
    assert delays(deaths_at([0, 1, 2, 3, 4])) == [0.5, 1, 2, 4, 8]


def test_the_sixth_death_within_a_minute_is_the_last() -> None:
    assert deaths_at([0, 10, 20, 30, 40, 50])[-1] == GiveUp(deaths=6)


def test_a_death_now_and_then_is_always_forgiven() -> None:
    assert set(delays(deaths_at([61.0 * n for n in range(50)]))) == {FIRST_DELAY_S}


@given(st.lists(st.floats(min_value=0, max_value=30), max_size=40))
def test_giving_up_needs_more_than_the_allowed_deaths_in_one_window(gaps: list[float]) -> None:
    moments = [sum(gaps[: n + 1]) for n in range(len(gaps))]
    decisions = deaths_at(moments)
    assert all(FIRST_DELAY_S <= wait <= LONGEST_DELAY_S for wait in delays(decisions))
    if decisions and isinstance(decisions[-1], GiveUp):
        last = moments[len(decisions) - 1]
        assert sum(last - at <= WINDOW_S for at in moments[: len(decisions)]) > MOST_DEATHS
