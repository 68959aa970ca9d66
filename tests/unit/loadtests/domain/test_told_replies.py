import json
from itertools import pairwise

import pytest

from loadtests.domain.told_replies import script_of_replies
from loadtests.simulator.domain.replies import Said
from loadtests.simulator.script import script_of


@pytest.mark.parametrize("tokens", [1, 40, 250])
def test_the_simulator_reads_it_and_says_something_else_each_turn(tokens: int) -> None:
    (rule,) = script_of(json.dumps(script_of_replies(tokens))).rules
    assert rule.fits([Said("user", "Hello?")])
    texts = [reply.text for reply in rule.replies]
    assert len(texts) > 50
    assert all(first != second for first, second in pairwise(texts))
    assert {len(text.split()) for text in texts} == {max(1, round(0.8 * tokens))}
