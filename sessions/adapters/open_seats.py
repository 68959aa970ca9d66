"""Seats without end: everybody gets one, and nobody counts them."""

from typing_extensions import override

from sessions.domain.drill import Drill
from sessions.domain.session import Session
from sessions.drill_ports import Seats


class OpenSeats(Seats):
    @override
    async def take(self, session: Session, drill: Drill | None) -> None:
        pass

    @override
    async def give_back(self, session: Session) -> None:
        pass
