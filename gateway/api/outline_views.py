"""What staff get to see of outlines."""

from typing import Self
from uuid import UUID

from gateway.api.views import View
from sessions.domain.outline import OutlineReport
from sessions.domain.session import SessionId


class PointReportView(View):
    kind: str
    name: str
    made: bool
    turns: tuple[int, ...]


class OutlineReportView(View):
    session_id: UUID
    points: tuple[PointReportView, ...]
    required_made: int
    required_total: int
    forbidden_made: int
    compliant: bool

    @classmethod
    def of(cls, session: SessionId, report: OutlineReport) -> Self:
        return cls(
            session_id=session,
            points=tuple(PointReportView.model_validate(point) for point in report.points),
            required_made=report.required_made,
            required_total=report.required_total,
            forbidden_made=report.forbidden_made,
            compliant=report.compliant,
        )
