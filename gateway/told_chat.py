"""What a caller is told of an engine's answer: OpenAI's members alone, and of each text what the rules release.

A chunk of which nothing is held is told as it came. What is still held at the end of a choice comes in a chunk before
the one that ends it. A choice that is blocked ends with OpenAI's reason for that, and the stream with it.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gateway.choice_check import CONTENT_FILTER, ChoiceCheck, ReplyRules, merged
from gateway.domain.limits import Spent
from gateway.domain.openai_answer import (
    END,
    Answer,
    Document,
    index_of,
    is_done,
    read_event,
    read_whole,
    told_choice,
    told_event,
    told_usage,
    told_whole,
    usage_of,
)
from gateway.domain.openai_said import (
    CONTENT,
    Place,
    Words,
    logprobs_told,
    says_anything,
    texts_of,
    with_texts,
    without_empty_calls,
    words_of,
)
from router.domain.sse import SEPARATOR

_PIECE = 500
"""Characters of a whole answer that are read in one go, between which others have their turn."""


class ToldEvents:
    """Of one stream, fed with whole events. `wants_usage`: whether the caller asked for the chunk with the usage;
    `spent_on`: what the stream has cost when this text was said, and the engine will not tell."""

    def __init__(self, rules: ReplyRules, *, wants_usage: bool, spent_on: Callable[[str], Spent]) -> None:
        self._rules = rules
        self._wants_usage = wants_usage
        self._spent_on = spent_on
        self._choices: dict[int, ChoiceCheck] = {}
        self._texts: list[str] = []
        self.spent: Spent | None = None
        """None: the engine has not told it yet."""
        self.is_done = False
        """Whether all was told, `[DONE]` included."""

    @property
    def said(self) -> str:
        """All that the engine has said so far, also in calls of tools."""
        return "".join(self._texts)

    @property
    def is_blocked(self) -> bool:
        """Whether there is nothing more to be said: every choice is over, and one of them is blocked."""
        checks = self._choices.values()
        return any(each.is_blocked for each in checks) and all(each.is_over for each in checks)

    async def feed(self, events: bytes) -> bytes:
        """Raises `StreamBroken`."""
        return b"".join([await self._told(block) for block in events.split(SEPARATOR)])

    async def _told(self, block: bytes) -> bytes:
        if self.is_done:
            return b""
        if is_done(block):
            self.is_done = True
            return END
        if (answer := read_event(block)) is None:
            return b""
        self.spent = answer.spent or self.spent
        told = b"".join([await self._told_choice(answer.head, choice) for choice in answer.choices])
        if self.is_blocked:
            self.is_done = True
            usage = usage_of(self._spent_on(self.said))
            return told + (told_usage(answer.head, usage) if self._wants_usage else b"") + END
        has_usage = self._wants_usage and answer.usage is not None and not answer.choices
        return told + (told_usage(answer.head, answer.usage or {}) if has_usage else b"")

    async def _told_choice(self, head: Document, choice: Document) -> bytes:
        if (check := self._choices.get(index_of(choice))) is None:
            check = self._choices[index_of(choice)] = ChoiceCheck(self._rules)
        if check.is_over:
            return b""
        words = words_of(choice, "delta")
        texts = texts_of(words)
        self._texts += [text for _, text in texts]
        told = await check.feed(texts)
        reason = choice.get("finish_reason")
        rest = await check.finish() if check.is_blocked or reason is not None else {}
        return b"".join(
            told_event(head, [each], wants_usage=self._wants_usage)
            for each in _told_deltas(choice, words, (told, rest), is_blocked=check.is_blocked)
        )


def _told_deltas(
    choice: Document, words: Words, released: tuple[Mapping[Place, str], Mapping[Place, str]], *, is_blocked: bool
) -> list[Document]:
    told, rest = released
    if not is_blocked and not any(rest.values()):
        delta = with_texts(words, told)
        is_worth_it = says_anything(delta) or not says_anything(words) or choice.get("finish_reason") is not None
        return [told_choice(choice, {"delta": delta, **_logprobs(choice, words, told)})] if is_worth_it else []
    delta = with_texts(words, merged(told, rest))
    delta = without_empty_calls(delta) if is_blocked else delta
    silent = _logprobs(choice, words, {})
    reason = CONTENT_FILTER if is_blocked else choice.get("finish_reason")
    last = told_choice(choice, {"delta": {}, **silent, "finish_reason": reason})
    first = told_choice(choice, {"delta": delta, **silent, "finish_reason": None})
    return [first, last] if says_anything(delta) else [last]


@dataclass(frozen=True, slots=True)
class ToldWhole:
    """An answer that is no stream."""

    body: bytes
    said: str
    """By the engine, whatever of it is told."""
    spent: Spent | None


async def whole_as_told(body: bytes, rules: ReplyRules) -> ToldWhole:
    """With the texts and the verdict that the same answer has as a stream; raises `StreamBroken` for what is none."""
    answer = read_whole(body)
    told = [await _whole_choice(choice, ChoiceCheck(rules)) for choice in answer.choices]
    return ToldWhole(told_whole(answer, told), _said(answer), answer.spent)


async def _whole_choice(choice: Document, check: ChoiceCheck) -> Document:
    words = words_of(choice, "message")
    told: dict[Place, str] = {}
    for place, text in texts_of(words):
        for at in range(0, len(text) or 1, _PIECE):
            told = merged(told, await check.feed([(place, text[at : at + _PIECE])]))
            await asyncio.sleep(0)
    told = merged(told, await check.finish())
    message = with_texts(words, told)
    changes = {"message": message, **_logprobs(choice, words, told)}
    if check.is_blocked:
        changes |= {"message": without_empty_calls(message), "finish_reason": CONTENT_FILTER}
    return told_choice(choice, changes)


def _logprobs(choice: Document, words: Words, told: Mapping[Place, str]) -> dict[str, object]:
    """Only of a text that is told just as it came: what is held, masked or blocked they would give away."""
    if "logprobs" not in choice:
        return {}
    said = dict(texts_of(words)).get(CONTENT)
    is_told = said is not None and told.get(CONTENT) == said
    return {"logprobs": logprobs_told(choice["logprobs"], said or "") if is_told else None}


def _said(answer: Answer) -> str:
    return "".join(text for choice in answer.choices for _, text in texts_of(words_of(choice, "message")))
