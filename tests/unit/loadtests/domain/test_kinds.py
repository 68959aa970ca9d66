"""What does not fit is found, field by field, and what fits is left as it is."""

import math
from dataclasses import dataclass, replace
from typing import Any

import pytest

from loadtests.domain.drill import Crowd, Drill
from loadtests.domain.kinds import of_its_kinds
from loadtests.domain.rows import Kind
from loadtests.domain.server import LagSample
from tests.support.load_rows import A_TURN


@dataclass(frozen=True)
class Kept:
    number: float = 1.5
    count: int = 1
    name: str = "x"
    is_up: bool = True
    at_s: float | None = None
    gaps_s: tuple[float, ...] = ()
    span: tuple[int, str] = (1, "a")


@pytest.mark.parametrize(
    "kept",
    [
        Kept(),
        Kept(number=2, at_s=1, gaps_s=(1, 2.5), count=-(10**20)),
        A_TURN,
        replace(A_TURN, kind=Kind.AUDIT, stored=((1, "a"), (2, "b"))),
        Drill(stairs=(1, 2), seed=10**23),
        LagSample(1, 2, 0.5),
    ],
)
def test_what_fits_is_left_as_it_is(kept: object) -> None:
    assert of_its_kinds(kept) is kept


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("number", True),
        ("number", "1"),
        ("number", None),
        ("number", math.nan),
        ("number", math.inf),
        ("number", 1e300),
        ("number", 10**400),
        ("count", 1.0),
        ("count", False),
        ("count", 10**400),
        ("name", None),
        ("is_up", 1),
        ("at_s", "x"),
        ("gaps_s", (1.0, None)),
        ("gaps_s", [1.0]),
        ("span", (1,)),
        ("span", (1, 2)),
        ("span", None),
    ],
)
def test_what_does_not_fit_is_named(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{name}: .* is of another kind"):
        of_its_kinds(replace(Kept(), **{name: value}))


def test_what_is_inside_is_looked_at_too() -> None:
    strange: Any = "many"
    with pytest.raises(ValueError, match="leavers: many is of another kind"):
        of_its_kinds(Drill(crowd=Crowd(leavers=strange)))
