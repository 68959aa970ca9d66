"""What a command line says becomes a drill."""

import pytest
import typer

from loadtests.cli.drill_options import Given, counts_of, drill_asked, require_heeded, shares_of, span_of
from loadtests.domain.drill import Affinity, Drill, Shape, Wire
from loadtests.domain.usual_drills import DEFAULTS


def test_what_is_not_given_is_as_the_shape_has_it() -> None:
    given = Given(Shape.RECOVERY, {"trainees": None, "think_s": 3.0})
    drill = drill_asked(given)
    usual = DEFAULTS[Shape.RECOVERY].drill
    assert (drill.think_s, drill.trainees, drill.faults) == (3.0, usual.trainees, usual.faults)


def test_lists_are_read() -> None:
    drill = drill_asked(Given(Shape.STAIRCASE, {}, turns="3-5", stairs="2,4", faults=("kill@1", "freeze@2")))
    assert (drill.turns, drill.stairs, drill.faults) == ((3, 5), (2, 4), ("kill@1", "freeze@2"))
    assert drill_asked(Given(Shape.LONG_PROMPT, {}, prompt_shares="0.5,1.01")).prompt_shares == (0.5, 1.01)


@pytest.mark.parametrize(
    "given",
    [
        Given(Shape.CLASS, {}, stairs="2,4"),
        Given(Shape.CLASS, {"stair_s": 60.0}),
        Given(Shape.SOAK, {}, prompt_shares="0.5"),
        Given(Shape.KV, {"trace": "azure"}),
        Given(Shape.STAIRCASE, {"trace_s": 60.0}),
        Given(Shape.SINGLE, {"trace_rate": 2.0}),
    ],
)
def test_what_a_shape_would_not_heed_is_refused(given: Given) -> None:
    with pytest.raises(typer.BadParameter, match="of the shape"):
        drill_asked(given)


def test_a_soak_has_the_length_of_a_stair() -> None:
    assert drill_asked(Given(Shape.SOAK, {"stair_s": 60.0})).stair_s == 60.0


def test_a_recovery_can_be_had_without_its_faults() -> None:
    assert drill_asked(Given(Shape.RECOVERY, {}, faults=("none",))).faults == ()


def test_nothing_given_is_the_shape_itself() -> None:
    assert drill_asked(Given(Shape.CLASS, {})) == Drill()


@pytest.mark.parametrize("values", [{"affinity": Affinity.NONE}, {"history": 20}])
def test_what_the_server_keeps_is_not_the_clients_to_choose(values: dict[str, object]) -> None:
    with pytest.raises(typer.BadParameter, match="--wire chat"):
        drill_asked(Given(Shape.CLASS, values))
    assert drill_asked(Given(Shape.CLASS, {**values, "wire": Wire.CHAT})).wire is Wire.CHAT


def test_what_sessions_would_not_heed_is_named() -> None:
    require_heeded(Wire.TURNS, model=None, system=None)
    require_heeded(Wire.CHAT, model="m", system="s")
    with pytest.raises(typer.BadParameter, match="--model and --system: of --wire chat"):
        require_heeded(Wire.TURNS, model="m", system="s")


def test_a_span_of_one() -> None:
    assert span_of("7") == (7, 7)


@pytest.mark.parametrize("words", ["", "-", "5-3", "0-4", "x", "3-5-7", "3-", "-3"])
def test_a_span_that_is_none(words: str) -> None:
    with pytest.raises(typer.BadParameter):
        span_of(words)


@pytest.mark.parametrize("words", ["", "5,5", "5,3", "0,1", "1,,2", "x"])
def test_stairs_that_do_not_rise(words: str) -> None:
    with pytest.raises(typer.BadParameter):
        counts_of(words)


@pytest.mark.parametrize("words", ["", "0", "-1", "nan", "inf", "11", "x"])
def test_shares_that_are_none(words: str) -> None:
    with pytest.raises(typer.BadParameter):
        shares_of(words)


@pytest.mark.parametrize(("trainees", "lobby_s"), [(20, 10.0), (50, 10.0), (300, 60.0)])
def test_a_large_class_takes_longer_to_sit_down(trainees: int, lobby_s: float) -> None:
    assert drill_asked(Given(Shape.CLASS, {"trainees": trainees})).lobby_s == lobby_s
    assert drill_asked(Given(Shape.CLASS, {"trainees": trainees, "lobby_s": 3.0})).lobby_s == 3.0
