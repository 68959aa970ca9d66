"""What is told of a shape's defaults is what they are."""

import pytest

from loadtests.domain.drill import Shape, Wire
from loadtests.domain.soundness import complaints
from loadtests.domain.usual_drills import DEFAULTS


@pytest.mark.parametrize("shape", list(Shape))
def test_every_shape_has_a_sound_drill(shape: Shape) -> None:
    drill = DEFAULTS[shape].drill
    assert drill.shape is shape
    assert complaints(drill) == ()


def test_what_is_told_holds_the_figures_of_the_drill() -> None:
    usual = DEFAULTS[Shape.CLASS]
    assert f"{usual.drill.trainees} trainees, {usual.drill.turns[0]}-{usual.drill.turns[1]} turns" in usual.told
    stairs = DEFAULTS[Shape.STAIRCASE]
    assert ", ".join(map(str, stairs.drill.stairs)) in stairs.told
    assert f"{DEFAULTS[Shape.SOAK].drill.stair_s / 60:g} min" in DEFAULTS[Shape.SOAK].told
    assert f"{DEFAULTS[Shape.KV].drill.trainees} trainees" in DEFAULTS[Shape.KV].told


@pytest.mark.parametrize("shape", sorted(set(Shape) - {Shape.TRACE}))
def test_each_tells_how_long_trainees_think(shape: Shape) -> None:
    assert f", {DEFAULTS[shape].drill.think_s:g} s to think" in DEFAULTS[shape].told


def test_prompts_that_we_size_go_over_the_wire_that_lets_us() -> None:
    assert DEFAULTS[Shape.LONG_PROMPT].drill.wire is Wire.CHAT
    assert DEFAULTS[Shape.TRACE].drill.wire is Wire.CHAT
