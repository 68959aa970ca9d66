"""Figures as JSON has them, which knows no infinite numbers: null would read as "not measured"."""

import math
from collections.abc import Mapping


def json_value(value: object) -> object:
    """Infinite numbers as the texts `inf` and `-inf`, in whatever they stand."""
    if isinstance(value, float) and math.isinf(value):
        return str(value)
    if isinstance(value, Mapping):
        return json_object(value)
    return [json_value(each) for each in value] if isinstance(value, list | tuple) else value


def json_object(told: Mapping[str, object]) -> dict[str, object]:
    return {str(name): json_value(each) for name, each in told.items()}
