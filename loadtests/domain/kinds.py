"""Whether what was kept of a run still has the kinds that its fields are declared with; files are damaged, or written
by others."""

import math
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin

_MOST = 1e15
"""Nothing that a run measures comes near it, and sums and squares of such values still are numbers."""
_MOST_COUNTED = 10**30

_Kept = TypeVar("_Kept")


def of_its_kinds(kept: _Kept) -> _Kept:
    """The same dataclass; raises `ValueError` for the first field whose value does not fit."""
    of: type = type(kept)
    for name, kind in _kinds(of):
        if not _fits(value := getattr(kept, name), kind):
            raise ValueError(f"{name}: {str(value)[:40]} is of another kind")
    return kept


@cache
def _kinds(of: type) -> tuple[tuple[str, Any], ...]:
    return tuple((each.name, each.type) for each in fields(of))


def _fits(value: object, kind: Any) -> bool:
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and _is_small(value)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _MOST_COUNTED
    origin, parts = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return any(value is None if part is NoneType else _fits(value, part) for part in parts)
    if origin is tuple:
        wanted = parts[:1] * len(value) if isinstance(value, tuple) and parts[-1] is ... else parts
        return isinstance(value, tuple) and len(value) == len(wanted) and all(map(_fits, value, wanted))
    return isinstance(value, kind) and (not is_dataclass(kind) or of_its_kinds(value) is value)


def _is_small(value: float) -> bool:
    """Which infinite values and those that are no numbers are not."""
    return abs(value) <= _MOST and math.isfinite(value)
