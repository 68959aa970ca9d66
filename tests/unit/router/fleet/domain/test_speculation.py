import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.fleet.domain.speculation import Speculation


def test_tokens_of_a_step_by_hand() -> None:
    # (1 - 0.5^4) / (1 - 0.5) = 1.875
    assert Speculation(tokens=3, acceptance=0.5, draft=None).tokens_per_step == 1.875


def test_what_is_never_accepted_gives_the_one_token_of_the_model_and_what_always_is_gives_all() -> None:
    assert Speculation(tokens=5, acceptance=0.0, draft=None).tokens_per_step == 1.0
    assert Speculation(tokens=5, acceptance=1.0, draft=None).tokens_per_step == 6.0


@given(st.integers(1, 16), st.floats(0, 0.99))
def test_the_sum_is_the_published_closed_form(tokens: int, acceptance: float) -> None:
    closed = (1 - acceptance ** (tokens + 1)) / (1 - acceptance)
    assert Speculation(tokens=tokens, acceptance=acceptance, draft=None).tokens_per_step == pytest.approx(closed)
