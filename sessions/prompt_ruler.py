"""Measures what stands in a prompt, by one served model's tokenizer and the shares of its window."""

from collections.abc import Callable
from functools import lru_cache

from sessions.domain.budget import Shares
from sessions.domain.compaction import Tail, TailTurn
from sessions.domain.history import History
from sessions.domain.prompt import (
    PromptRules,
    pinned_messages,
    record_text,
    scene_change,
    scene_of,
    scenes_change,
)
from sessions.domain.scenario import ScenarioContent
from sessions.domain.session import Session
from sessions.domain.turn import Turn
from sessions.ports import TokenCounter

MARGIN_TOKENS = 32
"""Token counts do not add up exactly where a text begins or ends in white space; what is planned by them keeps this
much away from the window's end."""

MOST_CHARACTERS_PER_TOKEN = 16
"""A text with more of them on the average is padding; people's words have two to five."""

_REMEMBERED_COUNTS = 512


class PromptRuler:
    def __init__(self, *, model: str, counter: TokenCounter, shares: Shares) -> None:
        self.model = model
        self.counter = counter
        self.shares = shares
        self.rules = PromptRules(counter.special_tokens, counter.message_overhead)
        # Scripts, openings and notes are the same from turn to turn, and counting is what writing a prompt costs.
        self._stable = lru_cache(_REMEMBERED_COUNTS)(counter.count_text)
        self._pinned = lru_cache(_REMEMBERED_COUNTS)(self._count_pinned)

    def count(self, text: str) -> int:
        """Tokens of a text as it stands in a prompt."""
        return self.counter.count_text(self.rules.harmless(text))

    def count_up_to(self, limit: int, text: str) -> int:
        """The tokens of a text that may have `limit`; of one that is far too long, a number over the limit."""
        return count_up_to(limit, text, self.count)

    def stable(self, text: str) -> int:
        """Tokens of a harmless text that many prompts hold."""
        return self._stable(text)

    def reply_tokens(self, content: ScenarioContent) -> int:
        return min(self.shares.reply, content.max_reply_tokens or self.shares.reply)

    def knowledge_tokens(self, content: ScenarioContent) -> int:
        """What is kept free for background; nothing where none is looked up."""
        return self.shares.knowledge if content.knowledge_base is not None else 0

    def longest_pinned(self, content: ScenarioContent) -> int:
        return max(self._pinned(content, scene.name) for scene in content.scenes)

    def tail(self, session: Session, content: ScenarioContent, history: History) -> Tail:
        kept = history.remembered
        changes = [self._change(content, scene) for scene in scenes_change(content, session.scene, kept)]
        return Tail(
            first=history.folded_to + 1,
            last=history.last_turn,
            turns=tuple(self._turn(turn, content, change) for turn, change in zip(kept, changes, strict=False)),
            room=self._room(content, history),
            pinned=self._pinned(content, session.scene),
            change=changes[-1],
            bridge=self._bridge(history),
        )

    def _room(self, content: ScenarioContent, history: History) -> int:
        """What pinned messages, tail and next message may take together."""
        record = record_text(content, history, self.rules)
        noted = self._stable(record) + self.rules.message_overhead if record else 0
        kept_free = self.reply_tokens(content) + self.knowledge_tokens(content) + MARGIN_TOKENS
        return self.shares.window - kept_free - max(self.shares.record, noted)

    def _bridge(self, history: History) -> int:
        if not history.notes or not history.bridge:
            return 0
        return self._stable(self.rules.harmless(history.bridge)) + self.rules.message_overhead

    def _turn(self, turn: Turn, content: ScenarioContent, change: int) -> TailTurn:
        message, reply = turn.text_tokens, turn.reply_tokens
        if turn.model not in ("", self.model):  # counted by another tokenizer
            message, reply = self._stable(self.rules.harmless(turn.text)), self._stable(self.rules.harmless(turn.reply))
        return TailTurn(
            number=turn.number,
            message=message + self.rules.message_overhead,
            reply=reply + self.rules.message_overhead,
            pinned=self._pinned(content, scene_of(turn, content)),
            change=change,
        )

    def _change(self, content: ScenarioContent, scene: str) -> int:
        return self._stable(scene_change(content, scene, self.rules)) if scene else 0

    def _count_pinned(self, content: ScenarioContent, scene: str) -> int:
        return self.counter.count_prompt(pinned_messages(content, scene, self.rules))


def count_up_to(limit: int, text: str, count: Callable[[str], int]) -> int:
    """As `count` does; of a text that is far too long for `limit`, only a number over the limit.

    Counting holds up every other turn of the process, and a body may bring enough to do so for seconds.
    """
    counted = text[: limit * MOST_CHARACTERS_PER_TOKEN]
    tokens = count(counted)
    return tokens if len(counted) == len(text) else max(tokens, limit + 1)
