"""Plays one part of the timetable: opens, waits for its time, asks, closes, and reads what was stored."""

import math
from collections.abc import Callable
from uuid import uuid4

import gevent

from loadtests.domain.drill import Wire
from loadtests.domain.part import Act, Ask, Behaviour, Part, Visit
from loadtests.users.chat_wire import ChatWire
from loadtests.users.message import Message, message
from loadtests.users.misdeeds import Misdeed, chat_misdeeds, commit, misdeeds
from loadtests.users.session_desk import SessionDesk
from loadtests.users.session_wire import SessionWire
from loadtests.users.stage import Stage
from loadtests.users.taken import Place

Take = Callable[[Place, Message], None]


def play(stage: Stage, part: Part) -> None:
    """From its first session to its last."""
    if stage.drill.wire is Wire.TURNS:
        _sessions(stage, part)
        return
    for number, visit in enumerate(part.visits):
        session = f"{stage.name}-{part.trainee}-{number}"
        (_chat if part.waits else _trace)(stage, part.trainee, session, visit)


def _sessions(stage: Stage, part: Part) -> None:
    trainee = part.trainee
    with stage.caller(trainee) as caller:
        desk, wire = SessionDesk(stage, caller, trainee=trainee), SessionWire(stage, caller)
        for visit in part.visits:
            stage.clock.wait_until(visit.opens_s)
            session = desk.opened(visit)
            if session is None:
                continue
            deeds = misdeeds(session, stage.foreign_session(trainee) or str(uuid4()))
            # Opened late, it is late by the server, not by its client.
            _Stay(stage, trainee, session=session, take=wire.take, deeds=deeds, free_s=stage.clock.now()).whole(visit)
            if visit.closes:
                desk.close(session)
            if part.behaviour is not Behaviour.HOSTILE:  # whose rows are no turns that a record could be held against
                desk.audit(session)


def _chat(stage: Stage, trainee: int, session: str, visit: Visit) -> None:
    with ChatWire(stage, trainee) as wire:
        free_s = max(visit.opens_s, stage.clock.now())  # a visit before it may have ended late
        stage.clock.wait_until(visit.opens_s)
        _Stay(stage, trainee, session=session, take=wire.take, deeds=chat_misdeeds(), free_s=free_s).whole(visit)


def _trace(stage: Stage, trainee: int, session: str, visit: Visit) -> None:
    """Each request at its time, whatever became of the one before."""

    def alone(turn: int, ask: Ask) -> None:
        with ChatWire(stage, trainee) as wire:
            _Stay(stage, trainee, session=session, take=wire.take, deeds=()).ask(turn, ask)

    asked = [gevent.spawn(alone, turn, ask) for turn, ask in enumerate(visit.asks, start=1)]
    gevent.joinall(asked, raise_error=True)


class _Stay:
    """A trainee in one session. Nobody has two turns in flight: a message is sent when it is due, or when the reply
    before it has ended."""

    def __init__(
        self,
        stage: Stage,
        trainee: int,
        *,
        session: str,
        take: Take,
        deeds: tuple[Misdeed, ...],
        free_s: float = -math.inf,
    ) -> None:
        self._stage = stage
        self._trainee = trainee
        self._session = session
        self._take = take
        self._deeds = deeds
        self._free_s = free_s

    def whole(self, visit: Visit) -> None:
        for turn, ask in enumerate(visit.asks, start=1):
            self.ask(turn, ask)

    def ask(self, turn: int, ask: Ask) -> None:
        stage = self._stage
        said = message(stage, self._trainee, turn, ask)
        due_s = max(ask.at_s, self._free_s)
        stage.clock.wait_until(due_s)
        where = {"worker": stage.book.worker, "trainee": self._trainee, "turn": turn}
        place = Place(**where, session=self._session, ask=ask, free_s=due_s)
        if ask.act is Act.HOSTILE:
            # Over a line of its own, so that one that is cut disturbs nothing.
            with stage.caller(self._trainee, is_chat=stage.drill.wire is Wire.CHAT) as caller:
                commit(stage, caller, place, self._deeds)
        else:
            self._take(place, said)
        self._free_s = stage.clock.now()
