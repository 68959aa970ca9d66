"""Writes prompts for one served model: its tokenizer, its window, and the shares of each block."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from sessions.domain.budget import SYSTEM_TOKENS, Shares
from sessions.domain.context import Block, BlockKind, Context
from sessions.domain.neutralise import neutralised
from sessions.domain.prompt import Prompt, PromptRules, assemble, pinned_messages, scene_script
from sessions.domain.scenario import ScenarioContent, sized, system_block
from sessions.domain.session import Session
from sessions.domain.turn import Turn
from sessions.errors import TextEmpty, TextTooLong
from sessions.ports import TokenCounter

MARGIN_TOKENS = 32
"""Token counts do not add up exactly where a text begins or ends in white space; the tail keeps this much away."""


_MOST_CHARACTERS_PER_TOKEN = 16
"""A text with more of them on the average is padding; people's words have two to five."""


@dataclass(frozen=True, slots=True)
class Written:
    """A prompt that fits, with its exact size and what is left for the reply."""

    prompt: Prompt
    prompt_tokens: int
    max_tokens: int


class PromptWriter:
    def __init__(self, *, model: str, counter: TokenCounter, shares: Shares) -> None:
        self._model = model
        self._counter = counter
        self._shares = shares
        self._rules = PromptRules(counter.special_tokens, counter.message_overhead)

    @property
    def window_tokens(self) -> int:
        return self._shares.window

    def checked(self, content: ScenarioContent) -> ScenarioContent:
        """The content, if its blocks keep to their shares; raises `ScenarioInvalid` with the counts otherwise."""
        longest = max(SYSTEM_TOKENS, self._shares.script, self._shares.opening)
        return sized(content, self._shares.blocks, lambda text: self._count_up_to(longest, text))

    def count(self, text: str) -> int:
        """Tokens of a text as it stands in a prompt."""
        return self._counter.count_text(neutralised(text, self._rules.special_tokens))

    def message_tokens(self, text: str) -> int:
        """Tokens of a trainee's message; raises `TextEmpty` or `TextTooLong`."""
        if not text.strip():
            raise TextEmpty("the message is empty")
        tokens = self._count_up_to(self._shares.message, text)
        if tokens > self._shares.message:
            raise TextTooLong(tokens=tokens, limit=self._shares.message)
        return tokens

    def _count_up_to(self, limit: int, text: str) -> int:
        """The tokens of a text that may have `limit`; of one that is far too long, a number over the limit.

        Counting holds up every other turn of the process, and a body may bring enough to do so for seconds.
        """
        counted = text[: limit * _MOST_CHARACTERS_PER_TOKEN]
        tokens = self.count(counted)
        return tokens if len(counted) == len(text) else max(tokens, limit + 1)

    def write(self, session: Session, content: ScenarioContent, turns: Sequence[Turn], text: str) -> Written:
        """The prompt for `text`; raises `TextEmpty` or `TextTooLong`."""
        reply = self._reply_tokens(content)
        prompt = self._assemble(session, content, turns, text, text_tokens=self.message_tokens(text))
        size = self._counter.count_prompt(prompt.messages)
        left = self._shares.window - size
        if left < 1:
            raise TextTooLong(tokens=size, limit=self._shares.window - 1)
        return Written(prompt, size, min(reply, left))

    def explain(self, session: Session, content: ScenarioContent, turns: Sequence[Turn]) -> Context:
        """What stands before the next message."""
        prompt = self._assemble(session, content, turns, "", text_tokens=0)
        before = Prompt(prompt.messages[:-1], prompt.cut_turns, prompt.remembered)
        size = self._counter.count_prompt(before.messages)
        reply = self._reply_tokens(content)
        room = self._shares.window - reply - size - self._counter.message_overhead
        return Context(
            session=session.id,
            model=self._model,
            window_tokens=self._shares.window,
            reply_tokens=reply,
            prompt_tokens=size,
            available_tokens=max(0, min(self._shares.message, room)),
            blocks=self._blocks(content, session.scene, before),
            messages=before.messages,
            cut_turns=before.cut_turns,
            prompt_sha256=before.digest,
            counted_by=self._counter.counted_by,
        )

    def _assemble(
        self, session: Session, content: ScenarioContent, turns: Sequence[Turn], text: str, *, text_tokens: int
    ) -> Prompt:
        pinned = pinned_messages(content, session.scene, self._rules)
        fixed = self._counter.count_prompt(pinned) + self._reply_tokens(content) + MARGIN_TOKENS
        room = self._shares.window - fixed
        return assemble(pinned, turns, text, text_tokens=text_tokens, room=room, rules=self._rules)

    def _reply_tokens(self, content: ScenarioContent) -> int:
        return min(self._shares.reply, content.max_reply_tokens or self._shares.reply)

    def _blocks(self, content: ScenarioContent, scene: str, before: Prompt) -> tuple[Block, ...]:
        texts = (
            (BlockKind.SYSTEM, system_block(content)),
            (BlockKind.SCRIPT, scene_script(content, scene)),
            (BlockKind.OPENING, content.opening.strip()),
        )
        clean = ((kind, neutralised(text, self._rules.special_tokens)) for kind, text in texts)
        pinned = tuple(Block(kind, self._counter.count_text(text), _sha256(text)) for kind, text in clean)
        return (*pinned, self._tail(before)) if before.remembered else pinned

    def _tail(self, before: Prompt) -> Block:
        """Its tokens with the template's around each message."""
        first = len(before.messages) - 2 * len(before.remembered)
        pinned, tail = before.messages[:first], before.messages[first:]
        tokens = self._counter.count_prompt(before.messages) - self._counter.count_prompt(pinned)
        digest = _sha256("\n".join(message.content for message in tail))
        return Block(BlockKind.TURNS, tokens, digest, before.remembered[0].number, before.remembered[-1].number)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
