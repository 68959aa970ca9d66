"""What of a drill makes no sense, by name."""

import math

import pytest

from loadtests.domain.drill import Crowd, Drill, Shape, Wire
from loadtests.domain.soundness import complaints


@pytest.mark.parametrize(
    ("drill", "named"),
    [
        (Drill(trainees=0), "trainees"),
        (Drill(turns=(0, 5)), "turns"),
        (Drill(turns=(6, 5)), "turns"),
        (Drill(turns=(1, 10_001)), "turns: at most 10,000"),
        (Drill(reply_tokens=0), "reply_tokens"),
        (Drill(history=-1), "history"),
        (Drill(window_tokens=0), "window_tokens"),
        (Drill(think_s=-1), "think_s"),
        (Drill(lobby_s=math.nan), "lobby_s"),
        (Drill(speed_up=0), "speed_up"),
        (Drill(timeout_s=math.inf), "timeout_s"),
        (Drill(crowd=Crowd(hostile=1.1)), "crowd"),
        (Drill(crowd=Crowd(leavers=math.nan)), "crowd"),
        (Drill(crowd=Crowd(leavers=0.6, impatient=0.6)), "crowd"),
        (Drill(shape=Shape.LONG_PROMPT), "shape long-prompt"),
        (Drill(shape=Shape.STAIRCASE), "stairs"),
        (Drill(shape=Shape.STAIRCASE, stairs=(5, 5)), "stairs"),
        (Drill(shape=Shape.STAIRCASE, stairs=(0, 5)), "stairs"),
        (Drill(shape=Shape.LONG_PROMPT, wire=Wire.CHAT, prompt_shares=()), "prompt_shares"),
        (Drill(shape=Shape.LONG_PROMPT, wire=Wire.CHAT, prompt_shares=(0.5, 0)), "prompt_shares"),
        (Drill(shape=Shape.TRACE, wire=Wire.CHAT), "trace"),
    ],
)
def test_what_makes_no_sense_is_named(drill: Drill, named: str) -> None:
    (complaint,) = complaints(drill)
    assert complaint.startswith(named)


def test_all_of_it_is_named_at_once() -> None:
    assert len(complaints(Drill(trainees=0, think_s=-1, speed_up=0))) == 3


@pytest.mark.parametrize(
    "drill",
    [
        Drill(),
        Drill(crowd=Crowd(leavers=0.1, reconnecting=0.2, impatient=0.3, hostile=0.4)),
        Drill(shape=Shape.STAIRCASE, stairs=(5, 10)),
        Drill(shape=Shape.TRACE, wire=Wire.CHAT, trace="azure"),
        Drill(shape=Shape.LONG_PROMPT, wire=Wire.CHAT),
    ],
)
def test_of_a_sound_drill_there_is_nothing_to_say(drill: Drill) -> None:
    assert complaints(drill) == ()


@pytest.mark.parametrize(
    "drill",
    [
        Drill(trainees=1, turns=(1, 1), window_tokens=1, reply_tokens=1, history=0, wire=Wire.CHAT),
        Drill(think_s=0, think_sigma=0, allowance_s=0, lobby_s=0, reaction_s=0),
        Drill(turns=(1, 10_000)),
        Drill(crowd=Crowd(hostile=1.0)),
        Drill(crowd=Crowd(leavers=0.5, hostile=0.5)),
        Drill(shape=Shape.STAIRCASE, stairs=(1,)),
        Drill(shape=Shape.STAIRCASE, stairs=(1, 2)),
    ],
)
def test_the_least_that_makes_sense_does(drill: Drill) -> None:
    assert complaints(drill) == ()
