"""How a prompt is put together.

The order is fixed because the replica's prefix cache depends on it: system block and scene script, the opening line,
the turns word for word, the current message. Everything before the current message only grows from turn to turn, byte
for byte, until a cut.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from sessions.domain.budget import TurnCost, cut
from sessions.domain.neutralise import neutralised
from sessions.domain.scenario import ScenarioContent, system_block
from sessions.domain.turn import Turn
from sessions.errors import ScenarioInvalid


class Role(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the next turn sends; `cut_turns` says how many remembered turns were left out because the window is full."""

    messages: tuple[Message, ...]
    cut_turns: int
    remembered: tuple[Turn, ...]
    """The turns that stand in it word for word."""

    @property
    def digest(self) -> str:
        """SHA-256 over roles and contents: equal digests, equal bytes."""
        text = json.dumps(
            [[message.role, message.content] for message in self.messages],
            ensure_ascii=False,
            separators=(",", ":"),
        )
        return hashlib.sha256(text.encode()).hexdigest()


def scene_script(content: ScenarioContent, scene: str) -> str:
    for known in content.scenes:
        if known.name == scene:
            return known.script.strip()
    raise ScenarioInvalid("scene", f"the scenario has no scene named {scene!r}")


@dataclass(frozen=True, slots=True)
class PromptRules:
    """What of the served model and the settings a prompt depends on."""

    special_tokens: tuple[str, ...]
    message_overhead: int
    """Tokens the template puts around one message."""


def pinned_messages(content: ScenarioContent, scene: str, rules: PromptRules) -> tuple[Message, ...]:
    """What stands before every turn of the session.

    Script and system block share one message: several chat templates allow a single system message only.
    """
    head = "\n\n".join(part for part in (system_block(content), scene_script(content, scene)) if part)
    return (
        Message(Role.SYSTEM, neutralised(head, rules.special_tokens)),
        Message(Role.ASSISTANT, neutralised(content.opening.strip(), rules.special_tokens)),
    )


def turn_messages(turn: Turn, rules: PromptRules) -> tuple[Message, Message]:
    return (
        Message(Role.USER, neutralised(turn.text, rules.special_tokens)),
        Message(Role.ASSISTANT, neutralised(turn.reply, rules.special_tokens)),
    )


def assemble(
    pinned: Sequence[Message],
    turns: Sequence[Turn],
    text: str,
    *,
    text_tokens: int,
    room: int,
    rules: PromptRules,
) -> Prompt:
    """The prompt for a new message `text` of `text_tokens` tokens; `room` is what tail and message may take
    together."""
    start = cut([_cost(turn, rules) for turn in turns], text_tokens + rules.message_overhead, room=room)
    kept = tuple(turn for turn in turns[start:] if turn.is_remembered)
    tail = [message for turn in kept for message in turn_messages(turn, rules)]
    current = Message(Role.USER, neutralised(text, rules.special_tokens))
    return Prompt((*pinned, *tail, current), sum(turn.is_remembered for turn in turns[:start]), kept)


def _cost(turn: Turn, rules: PromptRules) -> TurnCost:
    message = turn.text_tokens + rules.message_overhead
    kept = message + turn.reply_tokens + rules.message_overhead if turn.is_remembered else 0
    return TurnCost(message, kept)
