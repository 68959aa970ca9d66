"""Makes the events of a continuing answer events of the reply that was begun.

They get its id and its shape; what was told already is swallowed; the counts become those of one undisturbed turn.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from router.domain.chunk import Chunk, Counts
from router.domain.envelope import Envelope
from router.domain.stop_watch import StopWatch
from router.domain.told_ids import ToldIds
from router.errors import StreamBroken

_KEPT_BESIDE_CHOICES = ("system_fingerprint", "metrics")
_NOT_TOLD_AGAIN = ("prompt_token_ids",)
_MOST_CHARS_OF_A_TOKEN = 32


@dataclass(frozen=True, slots=True)
class Before:
    """What is known of the tokens at the joint."""

    prompt_tokens: int | None
    """Of the caller's own prompt."""
    start_tokens: int
    """Of the reply, in the prompt of the continuing call."""
    start_text: str
    """These."""
    told_tokens: int
    """Of the reply, when it broke off."""


class Joint:
    """`told_ids` None: the caller has not asked for token ids."""

    def __init__(
        self,
        *,
        envelope: Envelope,
        overlap: str,
        must_overlap: bool,
        before: Before,
        stop_watch: StopWatch,
        told_ids: ToldIds | None = None,
    ) -> None:
        self._envelope = envelope
        self._overlap = overlap
        self._must_overlap = must_overlap
        self._before = before
        self._stops = stop_watch
        self._told_ids = told_ids
        self._matches = True
        self._has_spoken = False
        self.swallowed = 0
        """Characters of the continuing answer that had been told before."""

    @property
    def is_exact(self) -> bool:
        """Whether the continuing answer began with all that was to be told again."""
        return self.swallowed == len(self._overlap)

    @property
    def has_diverged(self) -> bool:
        """Whether the continuing answer did not say again what it had to."""
        return self._must_overlap and not self._matches

    @property
    def stopped_at(self) -> str | None:
        """The stop string that was found across the joint, where no engine could see it."""
        return self._stops.found

    def told(self, chunk: Chunk) -> bytes:
        """The event to hand out; empty if it says nothing new."""
        if not chunk.choice:
            return self._envelope.event([], self._rest(chunk)) if chunk.counts is not None else b""
        self._demand_no_prompt(chunk)
        has_stopped = self.stopped_at is not None
        text = self._stops.feed(self._new(chunk.text))
        ids = self._new_ids(chunk.token_ids or (), has_stopped=has_stopped)
        reason = chunk.finish_reason
        if reason is None:
            if not (text or ids or chunk.is_reasoning or chunk.is_beyond_text):
                return b""
        elif self._must_overlap and not self.is_exact:
            self._matches = False
            raise StreamBroken("the continuing answer ended before it had said again what was told")
        choice = self._choice(chunk, text)
        if self._told_ids is not None and chunk.token_ids is not None:
            choice = {**choice, "token_ids": ids}
        return self._envelope.event([choice], self._rest(chunk))

    def counts(self, counts: Counts) -> Counts:
        """Of the whole reply, from those of the continuing answer: its prompt holds the head of the reply."""
        prompt = self._before.prompt_tokens
        if prompt is None:
            prompt = max(0, counts.prompt - self._before.start_tokens)
        return Counts(prompt, max(counts.completion, counts.prompt + counts.completion - prompt))

    def _demand_no_prompt(self, chunk: Chunk) -> None:
        """An engine that takes the end of its prompt for half a character says all of it when it has the rest."""
        if self._has_spoken or not chunk.text:
            return
        self._has_spoken = True
        told, ids = self._before.start_text, chunk.token_ids
        if ids and told and told in chunk.text and len(chunk.text) > len(told) + len(ids) * _MOST_CHARS_OF_A_TOKEN:
            raise StreamBroken("the continuing answer repeats its prompt")

    def _new(self, text: str) -> str:
        """Without what of it was told before the joint."""
        if self.is_exact or not self._matches:
            return text
        if self._overlap.startswith(text, self.swallowed):
            self.swallowed += len(text)
            return ""
        due = self._overlap[self.swallowed :]
        same = _common(due, text)
        self.swallowed += same
        if same < len(due) and same < len(text):
            self._matches = False
            if self._must_overlap:
                raise StreamBroken("the continuing answer says something else than was told")
        return text[same:]

    def _new_ids(self, ids: Sequence[int], *, has_stopped: bool) -> Sequence[int]:
        """Half a character has its ids too, though no text yet. Behind a stop string there are none."""
        return () if self._told_ids is None or has_stopped else self._told_ids.feed(ids)

    def _choice(self, chunk: Chunk, text: str) -> Mapping[str, object]:
        choice = {name: value for name, value in chunk.choice.items() if name not in _NOT_TOLD_AGAIN}
        if not self._envelope.is_chat:
            choice["text"] = text
            choice["logprobs"] = self._shifted(choice.get("logprobs"))
        elif "delta" in choice:
            said = {"content": text} if text or "content" in chunk.delta else {}
            choice["delta"] = {name: value for name, value in chunk.delta.items() if name != "role"} | said
        else:
            choice = _chat_choice(chunk, text)
        return {**choice, **self._stops.ending} if chunk.finish_reason is not None else choice

    def _shifted(self, logprobs: object) -> object:
        """Places in the text are places in the whole reply."""
        offsets = logprobs.get("text_offset") if isinstance(logprobs, dict) else None
        if not isinstance(logprobs, dict) or not isinstance(offsets, list):
            return logprobs
        shift = len(self._before.start_text)
        return {**logprobs, "text_offset": [each + shift if isinstance(each, int) else each for each in offsets]}

    def _rest(self, chunk: Chunk) -> Mapping[str, object]:
        rest = {name: chunk.document[name] for name in _KEPT_BESIDE_CHOICES if name in chunk.document}
        if (counts := chunk.counts) is not None:
            rest["usage"] = self._usage(chunk.usage or {}, self.counts(counts), is_last=not chunk.choice)
        return rest

    def _usage(self, usage: Mapping[str, object], counts: Counts, *, is_last: bool) -> Mapping[str, object]:
        """`is_last`: others are told while the reply goes on, and must not go backwards."""
        completion = counts.completion if is_last else max(counts.completion, self._before.told_tokens)
        numbers = {
            "prompt_tokens": counts.prompt,
            "total_tokens": counts.prompt + completion,
            "completion_tokens": completion,
        }
        details = usage.get("prompt_tokens_details")
        if isinstance(details, dict):
            cached = details.get("cached_tokens")
            # The head of the reply may have come from the cache too; it is no part of the caller's prompt.
            capped = min(cached, counts.prompt) if isinstance(cached, int) else cached
            return {**usage, **numbers, "prompt_tokens_details": {**details, "cached_tokens": capped}}
        return {**usage, **numbers}


def _chat_choice(chunk: Chunk, text: str) -> dict[str, object]:
    reason = chunk.finish_reason
    choice: dict[str, object] = {"index": 0, "delta": {"content": text}, "logprobs": None, "finish_reason": reason}
    if reason is not None:
        choice["stop_reason"] = chunk.choice.get("stop_reason")
    return {**choice, "token_ids": chunk.token_ids}


def _common(one: str, other: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
