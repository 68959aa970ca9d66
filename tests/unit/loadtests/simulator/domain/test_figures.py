"""What an engine can say about itself."""

from loadtests.simulator.domain.figures import Distributions, Histogram
from tests.support.simulated import a_life


def test_a_bucket_holds_what_is_at_most_its_bound() -> None:
    histogram = Histogram((1.0, 2.0))
    for value in (0.5, 1.0, 1.5, 2.0, 9.0):
        histogram.observe(value)
    assert histogram.counts == [2, 2, 1]
    assert histogram.sum == 14.0


def test_a_finished_request_is_counted_everywhere_once() -> None:
    distributions = Distributions()
    distributions.count(a_life(generated=5))
    assert distributions.prompt_tokens.sum == 10
    assert distributions.computed_tokens.sum == 6
    assert distributions.generated_tokens.sum == 5
    assert distributions.max_tokens.sum == 20
    assert distributions.whole_s.sum == 3.0
    assert distributions.per_output_token_s.sum == 0.5
    assert sum(distributions.preemptions.counts) == 1
