"""Recorded traces of other services as parts of a drill: their times and lengths, scaled to a window of ours.

A trace does not wait: each request has its time, whatever became of the one before. The sessions of a trace by blocks
are not marked in it: a request belongs to the session whose earlier chain of blocks it goes on.
"""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate

from loadtests.domain.drill import Drill
from loadtests.domain.part import Ask, Part, Visit

_AZURE_HEAD = "TIMESTAMP,ContextTokens,GeneratedTokens"
_FULL = 0.9
"""Of the window: so much the longest request of what is played may take, prompt and reply together."""
_BLOCK_TOKENS = 512
"""Of Mooncake's blocks."""
_DIGITS_OF_MICROSECONDS = 6


@dataclass(frozen=True, slots=True)
class Arrival:
    at_s: float
    """Since the first one."""
    prompt_tokens: int
    reply_tokens: int
    blocks: tuple[int, ...] = ()


def read_trace(text: str) -> tuple[Arrival, ...]:
    """A trace in the format of Azure (CSV) or of Mooncake (JSON lines); raises `ValueError` for anything else."""
    arrivals = tuple(_azure(text) if text.startswith(_AZURE_HEAD) else _mooncake(text))
    if not arrivals:
        raise ValueError("the trace is empty")
    begin = arrivals[0].at_s
    return tuple(Arrival(each.at_s - begin, each.prompt_tokens, each.reply_tokens, each.blocks) for each in arrivals)


def trace_parts(drill: Drill, arrivals: Sequence[Arrival]) -> tuple[Part, ...]:
    """What arrives within the time that is played, faster or slower than recorded, session by session."""
    played = [each for each in arrivals if each.at_s / drill.trace_rate < drill.trace_s]
    longest = max((each.prompt_tokens + each.reply_tokens for each in played), default=1)
    scale = min(1.0, _FULL * drill.window_tokens / longest)
    asks: dict[int, list[Ask]] = {}
    for each, session in zip(played, _sessions(played), strict=True):
        asks.setdefault(session, []).append(_ask(each, scale=scale, rate=drill.trace_rate))
    return tuple(
        Part(trainee=session, visits=(Visit(opens_s=of_session[0].at_s, asks=tuple(of_session)),), waits=False)
        for session, of_session in asks.items()
    )


def _ask(arrival: Arrival, *, scale: float, rate: float) -> Ask:
    return Ask(
        at_s=arrival.at_s / rate,
        message_tokens=max(1, round(arrival.prompt_tokens * scale)),
        reply_tokens=max(1, round(arrival.reply_tokens * scale)),
        blocks=arrival.blocks,
        block_tokens=max(1, round(_BLOCK_TOKENS * scale)) if arrival.blocks else 0,
    )


def _sessions(arrivals: Sequence[Arrival]) -> list[int]:
    """The number of each request's session. A chain is known by its ends: of a session's last request the whole, and
    the whole but its last block, which was not full. One block alone is what many sessions begin with."""
    ends: dict[tuple[int, ...], int] = {}
    known: dict[int, list[tuple[int, ...]]] = {}
    sessions: list[int] = []
    for arrival in arrivals:
        chains = accumulate(((block,) for block in arrival.blocks), lambda chain, block: chain + block)
        followed = [ends[chain] for chain in chains if chain in ends]
        session = followed[-1] if followed else len(known)
        for old in known.get(session, []):
            del ends[old]
        tails = {arrival.blocks, arrival.blocks[:-1]}
        known[session] = [chain for chain in tails if len(chain) > 1 and chain not in ends]
        ends |= dict.fromkeys(known[session], session)
        sessions.append(session)
    return sessions


def _azure(text: str) -> Iterator[Arrival]:
    for row in csv.DictReader(io.StringIO(text)):
        whole, _, fraction = row["TIMESTAMP"].partition(".")
        at = datetime.fromisoformat(f"{whole}.{fraction[:_DIGITS_OF_MICROSECONDS]:0<6}+00:00")
        yield Arrival(at.timestamp(), int(row["ContextTokens"]), int(row["GeneratedTokens"]))


def _mooncake(text: str) -> Iterator[Arrival]:
    for line in text.splitlines():
        told = json.loads(line)
        try:
            blocks = tuple(int(block) for block in told["hash_ids"])
            yield Arrival(told["timestamp"] / 1000, int(told["input_length"]), int(told["output_length"]), blocks)
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a line of a trace: {error}") from error
