"""Every shape is told, with what it is for."""

import pytest

from loadtests.cli.shapes import PURPOSES, shapes
from loadtests.conduct.faults import faults_of
from loadtests.conduct.parts import parts_of
from loadtests.domain.drill import Shape
from loadtests.domain.offered import offered
from loadtests.domain.usual_drills import DEFAULTS


def test_the_list_names_every_shape(capsys: pytest.CaptureFixture[str]) -> None:
    shapes()
    told = capsys.readouterr().out
    assert all(shape.value in told for shape in Shape)
    assert set(PURPOSES) == set(DEFAULTS) == set(Shape)


@pytest.mark.parametrize("shape", list(Shape))
def test_each_can_be_played_as_it_is(shape: Shape) -> None:
    drill = DEFAULTS[shape].drill
    load = offered(drill, parts_of(drill))
    assert drill.shape is shape
    assert load.turns > 0
    assert all(fault.at_s < load.last_s for fault in faults_of(drill.faults))
