"""What a load drill is told to do: the whole of its configuration, as a value that can be stored, hashed and compared.

Times are drill seconds: those of the simulated replicas where these run faster than we do, else real ones.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from hashlib import sha256

from loadtests.domain.kinds import of_its_kinds


class Shape(StrEnum):
    """How load comes."""

    SINGLE = "single"
    """One trainee, to know what the system can do for one."""
    CLASS = "class"
    """All at one bell."""
    STAIRCASE = "staircase"
    """More and more trainees, step by step, until the knee is past."""
    LONG_PROMPT = "long-prompt"
    """Prompts of given shares of the window, one of them too long."""
    LONG_OUTPUT = "long-output"
    """Replies up to the cap."""
    KV = "kv"
    """More context than the KV pools hold: preemptions are expected, errors are not."""
    RECOVERY = "recovery"
    """A class during which things break."""
    SOAK = "soak"
    """A steady number of trainees for a long time; whoever leaves is followed by another."""
    TRACE = "trace"
    """Requests at the times and of the lengths of a recorded trace; nobody waits for anybody."""


class Wire(StrEnum):
    """Which API the trainees speak."""

    TURNS = "turns"
    """Sessions and turns of Drillyard: the server keeps the history."""
    CHAT = "chat"
    """`/v1/chat/completions`: the client keeps the history. Any OpenAI-compatible server can be loaded so."""


class Affinity(StrEnum):
    """Who chooses the replica of a chat."""

    SERVER = "server"
    """One base URL; what stands behind it decides."""
    NONE = "none"
    """The client asks a replica at random each turn, as a balancer without affinity would."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """Who the trainees are: shares of all of them, from 0 to 1. The rest play their turns to the end."""

    leavers: float = 0.0
    """Leave early, between two turns, without closing their session."""
    reconnecting: float = 0.0
    """Their browser loses the stream in mid-reply, and reads on from the last event it has."""
    impatient: float = 0.0
    """Cancel a reply, or send a message twice."""
    hostile: float = 0.0
    """Send what has to be refused: foreign sessions, broken or huge bodies, wrong keys, readers that do not read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drill:
    """One load drill. Equal drills of equal seeds ask as much at the same planned times, however many workers play."""

    shape: Shape = Shape.CLASS
    wire: Wire = Wire.TURNS
    affinity: Affinity = Affinity.SERVER
    history: int | None = None
    """With `Wire.CHAT`: so many of the latest messages are sent along; None is all of them."""
    scenario: str = ""
    trainees: int = 20
    turns: tuple[int, int] = (20, 50)
    """At least and at most, of each session."""
    think_s: float = 20.0
    """Mean of the log-normal time between the planned end of a reply and the next message."""
    think_sigma: float = 0.5
    allowance_s: float = 8.0
    """What the timetable gives a reply: the next message is planned at its start plus this plus the time to think."""
    lobby_s: float = 10.0
    """Sessions are opened within so many seconds before the bell, evenly."""
    reaction_s: float = 5.0
    """Median of the log-normal time from the bell to a first message; 0: all at the very bell."""
    crowd: Crowd = field(default_factory=Crowd)
    reply_tokens: int | None = None
    """With `Wire.CHAT`: `max_tokens`."""
    prompt_shares: tuple[float, ...] = (0.25, 0.5, 0.75, 0.95, 1.01)
    """Of `Shape.LONG_PROMPT`: shares of the window."""
    window_tokens: int = 4096
    stairs: tuple[int, ...] = ()
    """Of `Shape.STAIRCASE`: trainees at each step."""
    stair_s: float = 120.0
    """Of `Shape.STAIRCASE` and `Shape.SOAK`: how long a step, or the whole soak, lasts."""
    trace: str = ""
    """Of `Shape.TRACE`: azure or mooncake, or the path of a file in one of their formats."""
    trace_s: float = 120.0
    """Seconds of the trace that are played."""
    trace_rate: float = 1.0
    """How much faster than recorded it arrives."""
    faults: tuple[str, ...] = ()
    """As `kind@seconds[:target]`, counted from the bell."""
    timeout_s: float = 60.0
    """A turn that takes longer has failed."""
    speed_up: float = 1.0
    """Drill seconds per real second."""
    seed: int = 1

    @property
    def digest(self) -> str:
        """Equal for equal configurations, whatever the order of their fields; 16 hex digits."""
        return sha256(json.dumps(asdict(self), sort_keys=True, default=str).encode()).hexdigest()[:16]

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def drill_of(told: Mapping[str, object]) -> Drill:
    """The drill that `as_json` told; raises `ValueError` for an unknown field or value."""
    known = {each.name for each in fields(Drill)}
    if strange := sorted(set(told) - known):
        raise ValueError(f"unknown fields: {', '.join(strange)}")
    given = dict(told)
    for name, kind in (("shape", Shape), ("wire", Wire), ("affinity", Affinity)):
        if name in given:
            given[name] = kind(str(given[name]))
    crowd = given.get("crowd")
    if isinstance(crowd, Mapping):
        given["crowd"] = Crowd(**crowd)
    for name in ("turns", "prompt_shares", "stairs", "faults"):
        value = given.get(name)
        if isinstance(value, list):
            given[name] = tuple(value)
    return of_its_kinds(Drill(**given))  # type: ignore[arg-type]  # JSON's values
