"""How a context window is shared between blocks, and which turns of the tail still fit."""

from collections.abc import Sequence
from dataclasses import dataclass

from sessions.domain.scenario import BlockLimits
from sessions.errors import ContextImpossible

SYSTEM_TOKENS = 500
"""The most that persona and instructions may take."""

TEMPLATE_TOKENS = 64
"""Set aside for the template's own tokens around the fixed blocks, the message and the reply."""


@dataclass(frozen=True, slots=True)
class Shares:
    """The settings of a window, all in tokens."""

    window: int
    reply: int
    message: int
    script: int
    opening: int

    @property
    def fixed(self) -> int:
        """What every prompt may need beside the tail."""
        return SYSTEM_TOKENS + self.script + self.opening + self.message + self.reply + TEMPLATE_TOKENS

    @property
    def blocks(self) -> BlockLimits:
        return BlockLimits(system=SYSTEM_TOKENS, script=self.script, opening=self.opening, reply=self.reply)

    @property
    def arithmetic(self) -> str:
        return (
            f"system {SYSTEM_TOKENS} + script {self.script} + opening {self.opening} + message {self.message}"
            f" + reply {self.reply} + template {TEMPLATE_TOKENS} = {self.fixed}"
        )


def fitting(shares: Shares) -> Shares:
    """The shares, if at least an eighth of the window is left for the talk; raises `ContextImpossible` otherwise."""
    left = shares.window - shares.fixed
    needed = shares.window // 8
    if left < needed:
        raise ContextImpossible(
            f"a window of {shares.window} tokens leaves {left} for the talk, but {needed} are needed: "
            f"{shares.arithmetic}"
        )
    return shares


@dataclass(frozen=True, slots=True)
class TurnCost:
    """Tokens of one stored turn: what its message took when it was asked, and what it adds to the tail since."""

    message: int
    kept: int


def cut(costs: Sequence[TurnCost], message: int, *, room: int) -> int:
    """How many of the oldest turns the prompt of the next message leaves out.

    Cuts are rare and deep: only when the tail and the message outgrow `room` does the tail shrink, to half of it at
    once, since every cut costs the replica's prefix cache. The answer is replayed from the first turn on, so it
    depends on the stored turns alone and a rebuilt prompt is the same, byte for byte.
    """
    start, tail = 0, 0
    for index, asked in enumerate([*costs, TurnCost(message, 0)]):
        if tail + asked.message > room:
            while start < index and tail + asked.message > room // 2:
                tail -= costs[start].kept
                start += 1
        tail += asked.kept
    return start
