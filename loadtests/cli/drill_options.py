"""The drill that a command line describes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import typer

from loadtests.conduct.faults import UnknownFault, faults_of
from loadtests.domain.drill import Affinity, Drill, Shape, Wire
from loadtests.domain.usual_drills import DEFAULTS, usual_lobby_s

_MOST_SHARE = 10.0
_NO_FAULTS = "none"
_ONLY_OF: Mapping[str, tuple[str, tuple[Shape, ...]]] = {
    "stairs": ("--stairs", (Shape.STAIRCASE,)),
    "stair_s": ("--stair", (Shape.STAIRCASE, Shape.SOAK)),
    "prompt_shares": ("--prompt-shares", (Shape.LONG_PROMPT,)),
    "trace": ("--trace", (Shape.TRACE,)),
    "trace_s": ("--trace-seconds", (Shape.TRACE,)),
    "trace_rate": ("--trace-rate", (Shape.TRACE,)),
}
"""Options that other shapes would not heed, by the fields of `Drill`."""


@dataclass(frozen=True, slots=True)
class Given:
    """`values` by the names of `Drill`; None: not given. Lists are as they were written."""

    shape: Shape
    values: Mapping[str, object]
    turns: str | None = None
    stairs: str | None = None
    prompt_shares: str | None = None
    faults: tuple[str, ...] = ()


def drill_asked(given: Given) -> Drill:
    """The shape's own drill, with what was given; raises `typer.BadParameter`."""
    told: dict[str, object] = {name: value for name, value in given.values.items() if value is not None}
    if given.turns is not None:
        told["turns"] = span_of(given.turns)
    if given.stairs is not None:
        told["stairs"] = counts_of(given.stairs)
    if given.prompt_shares is not None:
        told["prompt_shares"] = shares_of(given.prompt_shares)
    for name, (option, shapes) in _ONLY_OF.items():
        if name in told and given.shape not in shapes:
            raise typer.BadParameter(f"is of the shape {' and '.join(shapes)} alone", param_hint=option)
    if given.faults:
        told["faults"] = () if given.faults == (_NO_FAULTS,) else faults_in(given.faults)
    drill = replace(DEFAULTS[given.shape].drill, **told)  # type: ignore[arg-type]  # the options have the fields' types
    if "lobby_s" not in told:
        drill = replace(drill, lobby_s=usual_lobby_s(drill.lobby_s, drill.trainees))
    _require_wire(drill)
    return drill


def _require_wire(drill: Drill) -> None:
    if drill.wire is Wire.CHAT:
        return
    if drill.affinity is Affinity.NONE or drill.history is not None:
        raise typer.BadParameter("--affinity none and --history are of --wire chat: else the server keeps both")
    if drill.reply_tokens is not None:
        raise typer.BadParameter("--reply-tokens is of --wire chat: else the scenario says how long replies are")


def require_heeded(wire: Wire, **of_chats: object) -> None:
    """Options that sessions would not heed, by their names; raises `typer.BadParameter` for what was given."""
    given = [f"--{name}" for name, value in of_chats.items() if value is not None]
    if given and wire is not Wire.CHAT:
        raise typer.BadParameter(f"{' and '.join(given)}: of --wire chat alone, since the server gives sessions theirs")


def faults_in(words: tuple[str, ...]) -> tuple[str, ...]:
    """As they were written, if all of them are faults; raises `typer.BadParameter`."""
    try:
        faults_of(words)
    except UnknownFault as error:
        raise typer.BadParameter(str(error), param_hint="--faults") from None
    return words


def span_of(words: str) -> tuple[int, int]:
    """`20-50`, or `20`."""
    least, dash, most = words.partition("-")
    try:
        found = (int(least), int(most if dash else least))
    except ValueError:
        raise typer.BadParameter(f"{words!r} is not written 20-50 or 20", param_hint="--turns") from None
    if not 1 <= found[0] <= found[1]:
        raise typer.BadParameter(f"{words}: turns are at least 1, and the least is written first", param_hint="--turns")
    return found


def counts_of(words: str) -> tuple[int, ...]:
    """`5,10,20`, each more than the one before."""
    try:
        found = tuple(int(each) for each in words.split(","))
    except ValueError:
        raise typer.BadParameter(f"{words!r} is not written 5,10,20", param_hint="--stairs") from None
    if found[0] < 1 or list(found) != sorted(set(found)):
        raise typer.BadParameter(
            f"{words}: stairs are at least 1, and each more than the one before", param_hint="--stairs"
        )
    return found


def shares_of(words: str) -> tuple[float, ...]:
    """`0.25,0.5,1.01`."""
    try:
        found = tuple(float(each) for each in words.split(","))
    except ValueError:
        raise typer.BadParameter(f"{words!r} is not written 0.25,0.5,1.01", param_hint="--prompt-shares") from None
    if not all(0 < share <= _MOST_SHARE for share in found):
        raise typer.BadParameter(
            f"{words}: shares of the window are above 0 and at most {_MOST_SHARE:g}", param_hint="--prompt-shares"
        )
    return found
