"""What all events of one reply have in common, and the events that are written here and not by an engine."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from router.domain.chunk import Counts

DONE = b"data: [DONE]\n\n"
CHAT = "chat.completion.chunk"
_FIELDS = ("id", "object", "created", "model")


@dataclass(frozen=True, slots=True)
class Envelope:
    """Of the first answer; every later one is told under it."""

    fields: Mapping[str, object]
    is_chat: bool

    def event(self, choices: Sequence[Mapping[str, object]], rest: Mapping[str, object]) -> bytes:
        return written({**self.fields, "choices": choices, **rest})

    def finish(self, *, stop: str | None) -> bytes:
        """A finish that no engine said, for a stop string or for the limit of tokens."""
        reason = "length" if stop is None else "stop"
        said: Mapping[str, object] = {"delta": {"content": ""}} if self.is_chat else {"text": ""}
        return self.event([{"index": 0, **said, "logprobs": None, "finish_reason": reason, "stop_reason": stop}], {})

    def usage(self, counts: Counts) -> bytes:
        """Counts that no engine told: what came from the cache is not known."""
        total = counts.prompt + counts.completion
        usage = {"prompt_tokens": counts.prompt, "total_tokens": total, "completion_tokens": counts.completion}
        return self.event([], {"usage": usage})


def envelope_of(document: Mapping[str, object], *, is_chat: bool) -> Envelope:
    fields = {name: document[name] for name in _FIELDS if name in document}
    return Envelope(fields, is_chat)


def written(document: Mapping[str, object]) -> bytes:
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return b"data: " + text.encode("utf-8", "replace") + b"\n\n"


def joint_comment(*, continued: int, replica: str) -> bytes:
    """Clients skip it, unless they want to know where the reply changed its replica."""
    told = json.dumps({"continued": continued, "replica": replica}, separators=(",", ":"))
    return f": drillyard {told}\n\n".encode()
