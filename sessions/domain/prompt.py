"""How a prompt is put together.

The order is fixed because the replica's prefix cache depends on it: system block and scene script, the opening line,
the record of what was folded with the reply that stood behind it, the turns word for word, the current message.
Everything before the current message only grows from turn to turn, byte for byte, until a fold.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from sessions.domain.frames import FRAME_MARKS, background_frame, record_frame, scene_frame
from sessions.domain.history import History
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
    """What is sent: the messages, and which turns stand in them word for word."""

    messages: tuple[Message, ...]
    remembered: tuple[Turn, ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 over roles and contents: equal digests, equal bytes."""
        text = json.dumps(
            [[message.role, message.content] for message in self.messages],
            ensure_ascii=False,
            separators=(",", ":"),
        )
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class PromptRules:
    """What of the served model a prompt depends on."""

    special_tokens: tuple[str, ...]
    message_overhead: int
    """Tokens the template puts around one message."""

    def harmless(self, text: str) -> str:
        """The text without the power to forge a chat role or one of our frames."""
        return neutralised(text, (*self.special_tokens, *FRAME_MARKS))

    def joined(self, *parts: str) -> str:
        """Harmless parts and frames as one text: where two of them meet, a control string may come about."""
        return neutralised("".join(parts), self.special_tokens)


def scene_script(content: ScenarioContent, scene: str) -> str:
    for known in content.scenes:
        if known.name == scene:
            return known.script.strip()
    raise ScenarioInvalid("scene", f"the scenario has no scene named {scene!r}")


def scene_of(turn: Turn, content: ScenarioContent) -> str:
    """Records from before scenes could change name none."""
    return turn.scene or content.scenes[0].name


def first_scene(content: ScenarioContent, scene: str, remembered: Sequence[Turn]) -> str:
    """Whose script is pinned: that of the first turn word for word, so that a change of scene only appends."""
    return scene_of(remembered[0], content) if remembered else scene


def scenes_change(content: ScenarioContent, scene: str, remembered: Sequence[Turn]) -> tuple[str, ...]:
    """For each remembered turn and then for the next message, played in `scene`: the scene that begins there, or
    nothing."""
    played = [*(scene_of(turn, content) for turn in remembered), scene]
    return ("", *(after if after != before else "" for before, after in pairwise(played)))


def pinned_messages(content: ScenarioContent, scene: str, rules: PromptRules) -> tuple[Message, ...]:
    """What stands before everything else.

    Script and system block share one message: several chat templates allow a single system message only.
    """
    head = "\n\n".join(part for part in (system_block(content), scene_script(content, scene)) if part)
    return (
        Message(Role.SYSTEM, rules.harmless(head)),
        Message(Role.ASSISTANT, rules.harmless(content.opening.strip())),
    )


def record_text(content: ScenarioContent, history: History, rules: PromptRules) -> str:
    """The notes in their frame; empty without any."""
    if not history.notes:
        return ""
    return rules.joined(
        record_frame(history.notes, [rules.harmless(one.text) for one in history.notes], content.locale)
    )


def record_messages(content: ScenarioContent, history: History, rules: PromptRules) -> tuple[Message, ...]:
    """The record, and the reply that stood behind the turns in it: user and assistant must take turns, and a line that
    was really said invents nothing."""
    record = record_text(content, history, rules)
    if not record or not history.bridge:
        return ()
    return Message(Role.USER, record), Message(Role.ASSISTANT, rules.harmless(history.bridge))


def scene_change(content: ScenarioContent, scene: str, rules: PromptRules) -> str:
    """What a message begins with when this scene begins with it; nothing without a scene."""
    return scene_frame(rules.harmless(scene_script(content, scene)), content.locale) if scene else ""


def before_message(content: ScenarioContent, scene: str, history: History, rules: PromptRules) -> Prompt:
    """Everything that stands before the next message, which is played in `scene`."""
    kept = history.remembered
    changes = scenes_change(content, scene, kept)
    tail = (
        message
        for turn, change in zip(kept, changes, strict=False)
        for message in _turn_messages(turn, scene_change(content, change, rules), rules)
    )
    pinned = pinned_messages(content, first_scene(content, scene, kept), rules)
    return Prompt((*pinned, *record_messages(content, history, rules), *tail), kept)


def current_message(
    content: ScenarioContent, change: str, text: str, rules: PromptRules, *, background: str = ""
) -> Message:
    """The trainee's message; `change` names the scene that begins with it. The background stands with it and never in
    history."""
    found = background_frame(rules.harmless(background), content.locale) if background else ""
    return Message(Role.USER, rules.joined(scene_change(content, change, rules), found, rules.harmless(text)))


def _turn_messages(turn: Turn, change: str, rules: PromptRules) -> Iterator[Message]:
    yield Message(Role.USER, rules.joined(change, rules.harmless(turn.text)))
    yield Message(Role.ASSISTANT, rules.harmless(turn.reply))
