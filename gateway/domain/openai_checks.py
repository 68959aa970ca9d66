"""What the values of a chat completion's parameters may be: each check says what is wrong, or nothing.

The engine has the last word on what stands inside a tool or a schema.
"""

import math
from collections.abc import Callable

MOST_STOPS = 4
LONGEST_STOP = 256
MOST_TOOLS = 128
MOST_BIASES = 1024

_FORMATS = ("text", "json_object", "json_schema")
_CHOICES = ("none", "auto", "required")


def flag(value: object) -> str:
    return "" if isinstance(value, bool) else "it must be true or false"


def whole(least: int, most: int) -> Callable[[object], str]:
    def check(value: object) -> str:
        fits = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
        return "" if fits else f"it must be a whole number from {least} to {most}"

    return check


def number(least: float, most: float) -> Callable[[object], str]:
    def check(value: object) -> str:
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        return "" if is_number and least <= value <= most else f"it must be a number from {least:g} to {most:g}"  # type: ignore[operator]  # it is a number then

    return check


def some_of(*words: str) -> Callable[[object], str]:
    def check(value: object) -> str:
        return "" if value in words else f"it must be one of {', '.join(words)}"

    return check


def stops(value: object) -> str:
    given = value if isinstance(value, list) else [value]
    fit = all(isinstance(each, str) and 0 < len(each) <= LONGEST_STOP for each in given)
    if fit and len(given) <= MOST_STOPS:
        return ""
    return f"it must be text or a list of at most {MOST_STOPS} texts, each of 1 to {LONGEST_STOP} characters"


def biases(value: object) -> str:
    bias = number(-100, 100)
    fit = isinstance(value, dict) and all(token.isdecimal() and not bias(of) for token, of in value.items())
    if fit and isinstance(value, dict) and len(value) <= MOST_BIASES:
        return ""
    return f"it must be an object of at most {MOST_BIASES} token ids, each with a number from -100 to 100"


def tools(value: object) -> str:
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_TOOLS:
        return f"it must be a list of 1 to {MOST_TOOLS} tools"
    return "" if all(map(_is_function, value)) else "each tool must be a function with a name"


def tool_choice(value: object) -> str:
    if value in _CHOICES or _is_function(value):
        return ""
    return f"it must be one of {', '.join(_CHOICES)}, or name a function"


def response_format(value: object) -> str:
    kind = value.get("type") if isinstance(value, dict) else None
    return "" if kind in _FORMATS else f"its type must be one of {', '.join(_FORMATS)}"


def _is_function(value: object) -> bool:
    if not isinstance(value, dict) or value.get("type") != "function":
        return False
    function = value.get("function")
    name = function.get("name") if isinstance(function, dict) else None
    return isinstance(name, str) and 0 < len(name) <= 64  # noqa: PLR2004  as OpenAI has it
