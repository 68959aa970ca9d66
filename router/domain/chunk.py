"""One event of a generating stream, read: its text, its tokens, its counts, and whether it ends the reply.

Of a chat and of a completion alike; only the first choice is looked at.
"""

import json
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from router.domain.error_body import error_message
from router.domain.exchange import FinishReason
from router.errors import StreamBroken

_REASONS = frozenset(FinishReason)
_NOTHING: Mapping[str, object] = {}


@dataclass(frozen=True, slots=True)
class Counts:
    """Tokens as an engine counted them."""

    prompt: int
    completion: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """`choice` is empty where the event has none, as the one with the usage."""

    document: Mapping[str, object]
    choice: Mapping[str, object]

    @property
    def index(self) -> int:
        index = self.choice.get("index")
        return index if isinstance(index, int) else 0

    @property
    def delta(self) -> Mapping[str, object]:
        delta = self.choice.get("delta")
        return delta if isinstance(delta, dict) else _NOTHING

    @property
    def text(self) -> str:
        text = self.delta.get("content") if "delta" in self.choice else self.choice.get("text")
        return text if isinstance(text, str) else ""

    @property
    def token_ids(self) -> Sequence[int] | None:
        ids = self.choice.get("token_ids")
        return ids if isinstance(ids, list) and are_token_ids(ids) else None

    @property
    def is_reasoning(self) -> bool:
        return bool(self.delta.get("reasoning") or self.delta.get("reasoning_content"))

    @property
    def is_beyond_text(self) -> bool:
        """It says what no text continues: a piece of a tool call, a refusal, sound."""
        return any(self.delta.get(name) for name in ("tool_calls", "function_call", "refusal", "audio"))

    @property
    def says_something(self) -> bool:
        return bool(self.text) or self.is_reasoning or self.is_beyond_text

    @property
    def may_be_half_a_character(self) -> bool:
        """A token of which there is no text yet has its event too; so has the role, which is no token."""
        return bool(self.choice) and not self.text and "role" not in self.delta

    @property
    def finish_reason(self) -> str | None:
        """None while the reply goes on; raises `StreamBroken` for a reason with which no reply is complete."""
        reason = self.choice.get("finish_reason")
        if reason is None:
            return None
        if isinstance(reason, str) and reason in _REASONS:
            return reason
        raise StreamBroken(f"the engine ended the reply with the reason {str(reason)[:40]!r}")

    @property
    def usage(self) -> Mapping[str, object] | None:
        usage = self.document.get("usage")
        return usage if isinstance(usage, dict) else None

    @property
    def counts(self) -> Counts | None:
        usage = self.usage or _NOTHING
        prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
        return Counts(prompt, completion) if isinstance(prompt, int) and isinstance(completion, int) else None


def are_token_ids(ids: Iterable[object]) -> bool:
    """Whether these are numbers that can be a token's: it is an engine that says so."""
    try:
        array("L", cast(Iterable[int], ids))
    except (TypeError, OverflowError):
        return False
    return True


def read_chunk(data: bytes) -> Chunk:
    """Raises `StreamBroken` for what is no chunk, and for an engine's error in whichever shape."""
    document = _object(data)
    if document.get("error") is not None or "detail" in document or document.get("object") == "error":
        # An older vLLM puts the message on the outside.
        told = document if "error" in document or "detail" in document else {"error": document}
        raise StreamBroken(f"the engine reported: {error_message(told)}")
    choices = document.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else {}
    if not isinstance(choice, dict):
        raise StreamBroken("a choice is not an object")
    return Chunk(document, choice)


def _object(data: bytes) -> dict[str, object]:
    try:
        document: object = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise StreamBroken("an event is not JSON") from error
    if not isinstance(document, dict):
        raise StreamBroken("an event is not a JSON object")
    return document
