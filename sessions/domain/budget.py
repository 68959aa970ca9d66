"""How a context window is shared between blocks."""

from dataclasses import dataclass

from sessions.domain.scenario import BlockLimits
from sessions.errors import ContextImpossible, ScenarioInvalid

SYSTEM_TOKENS = 500
"""The most that persona and instructions may take."""

TEMPLATE_TOKENS = 64
"""Set aside for the template's own tokens around the fixed blocks, the message and the reply."""

FRAME_TOKENS = 80
"""Set aside for the fixed words around the notes."""


@dataclass(frozen=True, slots=True)
class Shares:
    """The settings of a window, all in tokens."""

    window: int
    reply: int
    message: int
    script: int
    opening: int
    summary: int
    """Of all notes together."""
    note: int
    """Of one note."""
    knowledge: int
    """Of what is found for one message; reserved only where a scenario has a knowledge base."""

    @property
    def record(self) -> int:
        """What the notes may take with the words around them."""
        return self.summary + FRAME_TOKENS

    @property
    def fixed(self) -> int:
        """What every prompt may need beside the tail."""
        return SYSTEM_TOKENS + self.script + self.opening + self.record + self.message + self.reply + TEMPLATE_TOKENS

    @property
    def blocks(self) -> BlockLimits:
        return BlockLimits(system=SYSTEM_TOKENS, script=self.script, opening=self.opening, reply=self.reply)

    @property
    def talk(self) -> int:
        """The least that must be left for the turns word for word."""
        return self.window // 8

    @property
    def arithmetic(self) -> str:
        return (
            f"system {SYSTEM_TOKENS} + script {self.script} + opening {self.opening}"
            f" + summary {self.summary} + its frame {FRAME_TOKENS} + message {self.message}"
            f" + reply {self.reply} + template {TEMPLATE_TOKENS} = {self.fixed}"
        )


def fitting(shares: Shares) -> Shares:
    """The shares, if at least an eighth of the window is left for the talk and a summary holds more than one note;
    raises `ContextImpossible` otherwise."""
    left = shares.window - shares.fixed
    if left < shares.talk:
        raise ContextImpossible(
            f"a window of {shares.window} tokens leaves {left} for the talk, but {shares.talk} are needed: "
            f"{shares.arithmetic}"
        )
    if shares.summary < 2 * shares.note:
        raise ContextImpossible(
            f"a summary of {shares.summary} tokens does not hold two notes of {shares.note}: "
            f"2 x {shares.note} = {2 * shares.note}"
        )
    return shares


def with_knowledge(shares: Shares, *, pinned: int, reply: int) -> None:
    """Whether a scenario that looks things up leaves enough for the talk; `pinned` are its own blocks, with the longest
    script. Raises `ScenarioInvalid` with the arithmetic otherwise."""
    taken = pinned + shares.record + shares.knowledge + shares.message + reply + TEMPLATE_TOKENS
    left = shares.window - taken
    if left < shares.talk:
        raise ScenarioInvalid(
            "knowledge_base",
            f"with background a window of {shares.window} tokens leaves {left} for the talk, but {shares.talk} are "
            f"needed: system, script and opening {pinned} + summary {shares.summary} + its frame {FRAME_TOKENS}"
            f" + knowledge {shares.knowledge} + message {shares.message} + reply {reply}"
            f" + template {TEMPLATE_TOKENS} = {taken}",
        )
