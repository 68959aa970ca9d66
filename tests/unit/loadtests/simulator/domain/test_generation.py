"""One generation as the simulated engine sees it."""

from tests.support.simulated import a_life


def test_a_life_says_how_long_its_parts_took() -> None:
    life = a_life(generated=5)
    assert (life.queue_s, life.to_first_token_s, life.prefill_s) == (0.5, 1.0, 0.5)
    assert (life.decode_s, life.inference_s, life.whole_s) == (2.0, 2.5, 3.0)
    assert life.per_output_token_s == 0.5


def test_a_single_token_has_no_time_per_token() -> None:
    assert a_life(generated=1).per_output_token_s == 0
