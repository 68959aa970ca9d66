"""Seats that are counted, and refused when there is to be none."""

from dataclasses import dataclass, field

from typing_extensions import override

from sessions.domain.drill import Drill
from sessions.domain.session import Session, SessionId
from sessions.drill_ports import Seats


class NoSeat(Exception):
    pass


@dataclass
class CountedSeats(Seats):
    free: int = 1_000
    taken: dict[SessionId, Drill | None] = field(default_factory=dict)
    given_back: list[SessionId] = field(default_factory=list)

    @override
    async def take(self, session: Session, drill: Drill | None) -> None:
        if len(self.taken) >= self.free:
            raise NoSeat
        self.taken[session.id] = drill

    @override
    async def give_back(self, session: Session) -> None:
        self.taken.pop(session.id, None)
        self.given_back.append(session.id)
