"""Rows of load drills with round figures: first text after 0.5 s, 11 tokens, the last of them after 2.5 s."""

from dataclasses import replace
from typing import Any

from loadtests.domain.rows import Kind, Row

A_TURN = Row(
    kind=Kind.TURN,
    worker=0,
    trainee=0,
    session="s-0",
    turn=1,
    planned_s=0.0,
    started_s=0.0,
    free_s=0.0,
    first_s=0.5,
    last_s=2.5,
    ended_s=2.6,
    pieces=11,
    gaps_s=(0.4, 0.2),
    prompt_tokens=1000,
    cached_tokens=0,
    completion_tokens=11,
    replica="replica-1",
    finish="stop",
    status=200,
    text_digest="d-1",
    stored_as=1,
)


def a_turn(turn: int = 1, *, at_s: float = 0.0, late_s: float = 0.0, **changes: Any) -> Row:
    """Planned at `at_s`, sent `late_s` after it, and with the usual times from then on."""
    begun = at_s + late_s
    times = {"first_s": begun + 0.5, "last_s": begun + 2.5, "ended_s": begun + 2.6}
    usual = {"turn": turn, "stored_as": turn, "text_digest": f"d-{turn}", "planned_s": at_s, "free_s": at_s}
    return replace(A_TURN, **{**usual, "started_s": begun, **times, **changes})


def a_failed_turn(turn: int = 1, *, at_s: float = 0.0, failure: str = "http_503", **changes: Any) -> Row:
    """Answered at once, and without any text."""
    nothing: dict[str, Any] = {
        "first_s": None,
        "last_s": None,
        "ended_s": at_s + 0.01,
        "gaps_s": (),
        "prompt_tokens": 0,
    }
    unknown: dict[str, Any] = {
        "cached_tokens": None,
        "completion_tokens": 0,
        "replica": None,
        "stored_as": None,
        "text_digest": "",
    }
    return a_turn(turn, at_s=at_s, **{**nothing, **unknown, "failure": failure, **changes})


def a_session(turns: int, *, trainee: int = 0, from_s: float = 0.0, every_s: float = 10.0, **changes: Any) -> list[Row]:
    """Warm turns whose prompt grows by 100 tokens each."""
    return [
        a_turn(
            number,
            at_s=from_s + (number - 1) * every_s,
            **{
                "trainee": trainee,
                "session": f"s-{trainee}",
                "prompt_tokens": 900 + 100 * number,
                "cached_tokens": 0 if number == 1 else 800 + 100 * number,
                **changes,
            },
        )
        for number in range(1, turns + 1)
    ]
