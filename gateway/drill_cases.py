"""What callers may do with many drills at once, made once and handed to the API."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gateway.drill_strain import DrillStrain, ToldStrain
from sessions.domain.drill import Drill, DrillId
from sessions.domain.viewer import Viewer
from sessions.drill_ports import ClassFileReader, DrillBook
from sessions.ports import Clock, Records
from sessions.use_cases.create_series import CreateSeries
from sessions.use_cases.end_series import CancelSeries, ReadSeries
from sessions.use_cases.import_drills import ImportDrills
from sessions.use_cases.read_drill import ListHeldDrills


@dataclass(frozen=True, slots=True)
class DrillCases:
    create_series: CreateSeries
    read_series: ReadSeries
    cancel_series: CancelSeries
    import_file: ImportDrills
    list_held: ListHeldDrills
    calendars: ClassFileReader
    strain: DrillStrain

    async def strain_for(self, viewer: Viewer, drills: Sequence[Drill]) -> Mapping[DrillId, ToldStrain]:
        """For whoever plans classes; trainees who look at one are not told."""
        return await self.strain.of(drills) if viewer.sees_all else {}


def drill_cases(
    *, book: DrillBook, records: Records, clock: Clock, calendars: ClassFileReader, strain: DrillStrain
) -> DrillCases:
    return DrillCases(
        create_series=CreateSeries(records=records, book=book, clock=clock),
        read_series=ReadSeries(book=book),
        cancel_series=CancelSeries(book=book, clock=clock),
        import_file=ImportDrills(records=records, book=book, clock=clock),
        list_held=ListHeldDrills(book=book),
        calendars=calendars,
        strain=strain,
    )
