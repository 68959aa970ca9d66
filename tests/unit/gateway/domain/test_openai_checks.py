import pytest

from gateway.domain.openai_checks import (
    MOST_BIASES,
    MOST_STOPS,
    MOST_TOOLS,
    biases,
    flag,
    number,
    response_format,
    some_of,
    stops,
    tool_choice,
    tools,
    whole,
)

TOOL = {"type": "function", "function": {"name": "hang_up"}}


@pytest.mark.parametrize(
    ("check", "right", "wrong"),
    [
        (flag, [True, False], [1, 0, "true", None]),
        (whole(1, 5), [1, 5], [0, 6, 2.0, True, "1"]),
        (number(0, 2), [0, 2, 0.5], [-0.1, 2.1, True, "1", float("nan"), float("inf")]),
        (some_of("low", "high"), ["low"], ["middle", 1, None]),
        (stops, ["x", ["x", "y"], ["x" * 256]], ["", [""], ["x" * 257], ["x"] * (MOST_STOPS + 1), [1], 7, {"a": 1}]),
        (
            biases,
            [{}, {"17": -100, "18": 3.5}],
            [[], {"x": 1}, {"1": 101}, {str(n): 1 for n in range(MOST_BIASES + 1)}],
        ),
        (
            tools,
            [[TOOL], [TOOL] * MOST_TOOLS],
            [[], [TOOL] * (MOST_TOOLS + 1), TOOL, ["x"], [{"type": "code"}], [{**TOOL, "function": "x"}]],
        ),
        (tool_choice, ["none", "auto", "required", TOOL], ["any", 1, {}, {**TOOL, "function": {"name": "x" * 65}}]),
        (
            response_format,
            [{"type": "text"}, {"type": "json_object"}, {"type": "json_schema", "json_schema": {"name": "x"}}],
            ["text", {"type": "structural_tag"}, {}],
        ),
    ],
)
def test_what_a_value_may_be(check: object, right: list[object], wrong: list[object]) -> None:
    assert callable(check)
    assert [value for value in right if check(value)] == []
    assert [value for value in wrong if not check(value)] == []
