"""What is written as JSON can be read by anybody."""

import json
import math

from hypothesis import given
from hypothesis import strategies as st

from loadtests.domain.json_values import json_object, json_value

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def test_infinite_numbers_are_told_wherever_they_stand() -> None:
    told = json_object({"p95": math.inf, "by": (1.5, [-math.inf]), "of": {"worst": math.inf, "why": "inf"}})
    assert told == {"p95": "inf", "by": [1.5, ["-inf"]], "of": {"worst": "inf", "why": "inf"}}


@given(VALUES)
def test_strict_readers_take_it_and_what_is_finite_stays_as_it_is(value: object) -> None:
    told = json_value(value)
    assert json_value(told) == told
    written = json.dumps(told, allow_nan=False)
    if "Infinity" not in json.dumps(value):
        assert json.loads(written) == json.loads(json.dumps(value))
