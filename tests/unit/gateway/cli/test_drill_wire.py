"""What --json prints of drills is what the API answers."""

import pytest
from pydantic import BaseModel

from gateway.api import drill_views, fleet_plan_views
from gateway.cli import drill_wire, fleet_plan_wire


@pytest.mark.parametrize(
    ("answered", "read"),
    [
        (drill_views.StrainedDrillView, drill_wire.DrillView),
        (drill_views.SeriesView, drill_wire.SeriesView),
        (drill_views.StrainView, drill_wire.StrainView),
        (fleet_plan_views.ShortageView, fleet_plan_wire.ShortageView),
        (drill_views.OverlapView, drill_wire.OverlapView),
        (drill_views.ImportView, drill_wire.ImportView),
        (drill_views.ImportedView, drill_wire.ImportedView),
    ],
)
def test_no_member_is_lost(answered: type[BaseModel], read: type[BaseModel]) -> None:
    assert set(read.model_fields) == set(answered.model_fields)
