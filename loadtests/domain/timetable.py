"""Who asks when in a drill, as it follows from the drill alone: neither from how many workers play it, nor from how
the system does.

The next message is planned at the planned start of the one before, plus what a reply is allowed, plus a time to think.
Two runs of one drill are therefore offered the same load, and a slow system makes trainees late against it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from loadtests.domain.chance import log_normal, log_normal_of_mean, shuffled
from loadtests.domain.dice import Dice
from loadtests.domain.drill import Drill, Shape, Wire
from loadtests.domain.part import Act, Ask, Behaviour, Part, Visit
from loadtests.domain.soundness import complaints
from loadtests.domain.trace import Arrival, trace_parts

_REACTION_SIGMA = 0.5
_MID_REPLY = 12
"""An act in mid-reply happens at most after so many pieces."""
_FULL = 0.9
"""Of the window, which sessions that are to exhaust KV memory come to fill."""
_LEAST_MESSAGE = 16
_MOST_MESSAGE = 512
"""Sessions refuse messages that are much longer."""
_USUAL_REPLY = 128
_LONG_REPLY = 1024
_TO_WRITE_S = 1.0
"""So long before it is sent a message of exact length is made, which the server counts."""
_CUT_OR_NOT = (Act.CUT, Act.TAKE)
_IMPATIENT_ACTS = (Act.TAKE, Act.CANCEL, Act.TWICE, Act.BESIDE)


def timetable(drill: Drill, arrivals: Sequence[Arrival] = ()) -> tuple[Part, ...]:
    """One part for each trainee, in the order of their numbers; raises `ValueError` for a drill that makes no sense.

    `arrivals` are the requests of the recorded trace, for `Shape.TRACE`.
    """
    if wrong := complaints(drill):
        raise ValueError("; ".join(wrong))
    match drill.shape:
        case Shape.TRACE:
            return trace_parts(drill, arrivals)
        case Shape.LONG_PROMPT:
            return tuple(_long_prompts(drill))
        case Shape.STAIRCASE:
            return tuple(_climbing(drill))
        case Shape.SOAK:
            return tuple(_steady(drill))
        case _:
            count = 1 if drill.shape is Shape.SINGLE else drill.trainees
            return tuple(_cast(drill, count))


def last_planned_s(parts: Sequence[Part]) -> float:
    return max((part.last_s for part in parts), default=0.0)


def _cast(drill: Drill, count: int) -> Iterator[Part]:
    """Everybody at the bell, each for one session."""
    for trainee, behaviour in enumerate(_behaviours(drill, count)):
        visit = _visit(drill, f"{trainee}", opens_s=_opening(drill, trainee, count), bell_s=0.0)
        yield Part(trainee=trainee, behaviour=behaviour, visits=(_behaved(drill, behaviour, trainee, visit),))


def _climbing(drill: Drill) -> Iterator[Part]:
    """Each stair's newcomers open within the lobby before it, and stay until the last stair ends."""
    count = drill.stairs[-1]
    ends_s = len(drill.stairs) * drill.stair_s
    behaviours = _behaviours(drill, count)
    below = 0
    for stair, height in enumerate(drill.stairs):
        bell_s = stair * drill.stair_s
        for trainee in range(below, height):
            opens_s = bell_s + _opening(drill, trainee - below, height - below)
            yield _staying(drill, behaviours[trainee], trainee, opens_s=opens_s, bell_s=bell_s, ends_s=ends_s)
        below = height


def _steady(drill: Drill) -> Iterator[Part]:
    for trainee, behaviour in enumerate(_behaviours(drill, drill.trainees)):
        opens_s = _opening(drill, trainee, drill.trainees)
        yield _staying(drill, behaviour, trainee, opens_s=opens_s, bell_s=0.0, ends_s=drill.stair_s)


def _staying(drill: Drill, behaviour: Behaviour, trainee: int, *, opens_s: float, bell_s: float, ends_s: float) -> Part:
    """Session after session until the end; the next begins when the one before is planned to be over."""
    visits: list[Visit] = []
    while not visits or bell_s < ends_s:
        whole = _visit(drill, f"{trainee}/{len(visits)}", opens_s=opens_s, bell_s=bell_s)
        lasting = _behaved(drill, behaviour, trainee, whole)
        in_time = tuple(ask for ask in lasting.asks if ask.at_s < ends_s)
        if in_time or not visits:
            visits.append(replace(lasting, asks=in_time or lasting.asks[:1]))
        # Later than the one before, so that even a drill without any waiting comes to its end.
        opens_s = bell_s = max(lasting.asks[-1].at_s + drill.allowance_s, bell_s + 1.0)
    return Part(trainee=trainee, behaviour=behaviour, visits=tuple(visits))


def _long_prompts(drill: Drill) -> Iterator[Part]:
    """A trainee for each share of the window, who sends prompts of that size, each in a session of its own."""
    for trainee, part in enumerate(drill.prompt_shares):
        whole = _visit(drill, f"{trainee}", opens_s=-drill.lobby_s, bell_s=0.0)
        tokens = max(1, round(part * drill.window_tokens))
        reply = min(drill.reply_tokens or _USUAL_REPLY, max(1, drill.window_tokens - tokens))
        act = Act.TOO_LONG if part > 1 else Act.TAKE
        asks = (replace(ask, act=act, message_tokens=tokens, reply_tokens=reply) for ask in whole.asks)
        visits = tuple(Visit(opens_s=ask.at_s - _TO_WRITE_S, asks=(ask,)) for ask in asks)
        yield Part(trainee=trainee, visits=visits)


def _visit(drill: Drill, name: str, *, opens_s: float, bell_s: float) -> Visit:
    """One session of steady turns."""
    dice = Dice(drill.seed, f"turns of {name}")
    turns = dice.between(*drill.turns)
    at_s = bell_s + log_normal(dice, median=drill.reaction_s, sigma=_REACTION_SIGMA)
    message, reply = _lengths(drill, turns)
    asks: list[Ask] = []
    for _ in range(turns):
        asks.append(Ask(at_s=at_s, message_tokens=message, reply_tokens=reply))
        at_s += drill.allowance_s + log_normal_of_mean(dice, mean=drill.think_s, sigma=drill.think_sigma)
    return Visit(opens_s=opens_s, asks=tuple(asks))


def _lengths(drill: Drill, turns: int) -> tuple[int | None, int | None]:
    """Of each message and reply, where the shape says."""
    match drill.shape:
        case Shape.LONG_OUTPUT:
            return None, drill.reply_tokens or _LONG_REPLY
        case Shape.KV:
            reply = drill.reply_tokens or _USUAL_REPLY
            message = max(_LEAST_MESSAGE, round(_FULL * drill.window_tokens / turns) - reply)
            return min(message, _MOST_MESSAGE) if drill.wire is Wire.TURNS else message, reply
        case _:
            return None, drill.reply_tokens


def _opening(drill: Drill, place: int, count: int) -> float:
    """Evenly over the lobby, seen from the bell."""
    return -drill.lobby_s * (count - place) / count


def _behaviours(drill: Drill, count: int) -> list[Behaviour]:
    """Of each trainee; which of them are which is chance, how many is not."""
    crowd = drill.crowd
    wanted = (
        (Behaviour.LEAVER, crowd.leavers),
        (Behaviour.RECONNECTING, crowd.reconnecting),
        (Behaviour.IMPATIENT, crowd.impatient),
        (Behaviour.HOSTILE, crowd.hostile),
    )
    unruly = [behaviour for behaviour, part in wanted for _ in range(round(part * count))][:count]
    cast = [Behaviour.STEADY] * count
    for trainee, behaviour in zip(shuffled(Dice(drill.seed, "who is who"), count), unruly, strict=False):
        cast[trainee] = behaviour
    return cast


def _behaved(drill: Drill, behaviour: Behaviour, trainee: int, visit: Visit) -> Visit:
    dice = Dice(drill.seed, f"manners of {trainee} from {visit.opens_s}")
    match behaviour:
        case Behaviour.LEAVER:
            stays = dice.between(1, max(1, len(visit.asks) - 1))
            return replace(visit, asks=visit.asks[:stays], closes=False)
        case Behaviour.RECONNECTING:
            return replace(visit, asks=tuple(_acted(dice, ask, dice.one_of(_CUT_OR_NOT)) for ask in visit.asks))
        case Behaviour.IMPATIENT:
            return replace(visit, asks=tuple(_acted(dice, ask, dice.one_of(_IMPATIENT_ACTS)) for ask in visit.asks))
        case Behaviour.HOSTILE:
            deeds = enumerate(visit.asks, start=trainee)
            return replace(visit, asks=tuple(replace(ask, act=Act.HOSTILE, after=deed) for deed, ask in deeds))
        case _:
            return visit


def _acted(dice: Dice, ask: Ask, act: Act) -> Ask:
    return replace(ask, act=act, after=dice.between(1, _MID_REPLY))
