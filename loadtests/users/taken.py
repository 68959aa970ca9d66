"""What became of one message: what was heard, and how often and in how many ways it had to be asked for."""

from dataclasses import dataclass, field
from http import HTTPStatus

from loadtests.domain.heard import Heard, word_of
from loadtests.domain.part import Ask
from loadtests.domain.rows import Kind, Row
from loadtests.users.caller import Answer
from loadtests.users.clock import DrillClock

_WAITED_OUT = frozenset({HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
_BLOCKED = "content_blocked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where in a drill a message stands."""

    worker: int
    trainee: int
    session: str
    turn: int
    """Its number in the timetable, from 1."""
    ask: Ask
    free_s: float
    """When it could have been sent."""


@dataclass(slots=True, kw_only=True)
class Taken:
    """Stamps are of `time.perf_counter`."""

    started_at: float
    ended_at: float = 0.0
    status: int | None = None
    attempts: int = 0
    notes: list[str] = field(default_factory=list)

    def row(self, place: Place, heard: Heard, clock: DrillClock) -> Row:
        return Row(
            kind=Kind.TURN,
            worker=place.worker,
            trainee=place.trainee,
            session=place.session,
            turn=place.turn,
            planned_s=place.ask.at_s,
            started_s=clock.at(self.started_at),
            free_s=place.free_s,
            first_s=None if heard.first_at is None else clock.at(heard.first_at),
            last_s=None if heard.last_at is None else clock.at(heard.last_at),
            ended_s=clock.at(self.ended_at),
            pieces=heard.pieces,
            gaps_s=tuple(clock.drill(gap) for gap in heard.gaps_s),
            prompt_tokens=heard.prompt_tokens,
            cached_tokens=heard.cached_tokens,
            completion_tokens=heard.completion_tokens,
            replica=heard.replica,
            continued=heard.continued,
            finish=heard.finish,
            status=self.status,
            attempts=self.attempts,
            text_digest=heard.digest,
            stored_as=heard.stored_as,
            failure=heard.failure,
            note=" ".join(dict.fromkeys(filter(None, self.notes))),
        )


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that is no reply. `after_s`: it may be asked again so many real seconds later."""

    failure: str
    code: str
    after_s: float | None


def refusal(answer: Answer) -> Refusal:
    """Reads the body; raises `Lost`."""
    status, retry = answer.status, answer.header("Retry-After")
    code = _code(answer.json())
    after_s = float(retry) if status in _WAITED_OUT and retry is not None and retry.isdecimal() else None
    return Refusal("moderated" if code == _BLOCKED else f"http_{status}", code, after_s)


def _code(content: object) -> str:
    """Of a problem document, or of an error object of OpenAI's."""
    if not isinstance(content, dict):
        return ""
    error = content.get("error")
    found = content.get("code") or (error.get("code") if isinstance(error, dict) else None)
    return word_of(found or "")
