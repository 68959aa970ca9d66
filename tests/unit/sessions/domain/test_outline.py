"""What an outline may say, and what is reported of it."""

import pytest

from sessions.domain.moderation import NOTHING_FOUND, Action, Direction, Mark, Source, Verdict
from sessions.domain.outline import (
    LONGEST_NAME,
    MAX_PHRASES,
    MAX_POINTS,
    NO_OUTLINE,
    Outline,
    Point,
    PointKind,
    PointReport,
    check_outline,
    judged,
    reported,
)
from sessions.errors import ScenarioInvalid

PRICE, GREETING = Point("price", ("our price", "报价")), Point("greeting", ("hello",))
PROMISE = Point("promise", ("guaranteed",))
OUTLINE = Outline(required=(GREETING, PRICE), forbidden=(PROMISE,))


def named(*names: str) -> Outline:
    return Outline(required=tuple(Point(name, ("x y",)) for name in names))


@pytest.mark.parametrize(
    "outline",
    [
        NO_OUTLINE,
        OUTLINE,
        named("n" * LONGEST_NAME, "问候"),
        named(*(f"p{number}" for number in range(MAX_POINTS))),
        Outline(forbidden=(Point("a", ("p",) * MAX_PHRASES),)),
    ],
)
def test_what_can_be_checked_is_taken(outline: Outline) -> None:
    check_outline(outline)


@pytest.mark.parametrize(
    ("outline", "field"),
    [
        (named(*(f"p{number}" for number in range(MAX_POINTS + 1))), "outline"),
        (named("a", "a"), "outline"),
        (Outline(required=(GREETING,), forbidden=(GREETING,)), "outline"),
        (named("a", ""), "outline.required.1.name"),
        (named(" "), "outline.required.0.name"),
        (named("two\nlines"), "outline.required.0.name"),
        (named("n" * (LONGEST_NAME + 1)), "outline.required.0.name"),
        (Outline(forbidden=(Point("a", ()),)), "outline.forbidden.0.phrases"),
        (Outline(forbidden=(Point("a", ("p",) * (MAX_PHRASES + 1)),)), "outline.forbidden.0.phrases"),
    ],
)
def test_what_cannot_be_checked_is_refused_by_field(outline: Outline, field: str) -> None:
    with pytest.raises(ScenarioInvalid) as refused:
        check_outline(outline)
    assert refused.value.field == field


def test_a_required_point_is_told_and_no_finding() -> None:
    found = judged(OUTLINE, ("price",))
    assert (found.marks, found.points, found.verdict) == ((), ("price",), Verdict.ALLOW)
    assert judged(OUTLINE, ()) is NOTHING_FOUND


def test_a_forbidden_point_that_is_made_is_a_finding_too() -> None:
    found = judged(OUTLINE, {"promise", "greeting"})
    assert found.points == ("greeting", "promise")
    assert found.marks == (Mark(Direction.OUTPUT, Source.OUTLINE, "promise", "outline", 2, Action.FLAG),)
    assert found.verdict is Verdict.FLAG


def test_a_report_names_the_turns_of_each_point() -> None:
    report = reported(OUTLINE, [(1, ("greeting",)), (2, ()), (3, ("greeting", "promise"))])
    assert report.points == (
        PointReport(PointKind.REQUIRED, "greeting", (1, 3)),
        PointReport(PointKind.REQUIRED, "price", ()),
        PointReport(PointKind.FORBIDDEN, "promise", (3,)),
    )
    assert (report.required_made, report.required_total, report.forbidden_made) == (1, 2, 1)
    assert not report.compliant


@pytest.mark.parametrize(
    ("made", "compliant"),
    [(("greeting", "price"), True), (("greeting",), False), (("greeting", "price", "promise"), False)],
)
def test_a_session_complies_when_all_was_said_that_must_be_and_nothing_that_must_not(
    made: tuple[str, ...], *, compliant: bool
) -> None:
    assert reported(OUTLINE, [(1, made)]).compliant is compliant
    assert reported(OUTLINE, [(number, (name,)) for number, name in enumerate(made, 1)]).compliant is compliant


def test_without_an_outline_there_is_nothing_to_break() -> None:
    assert reported(NO_OUTLINE, [(1, ())]).compliant
