"""What of an engine's answer is told to the caller: the members that OpenAI's API has, and no others.

The engine's own (token ids, transfer parameters, what was written into the prompt) stay inside.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gateway.domain.limits import Spent
from router.domain.chunk import read_chunk
from router.domain.sse import DONE, SEPARATOR, event_data
from router.errors import StreamBroken

_DOCUMENT = ("id", "object", "created", "model", "system_fingerprint")
_CHOICE = ("index", "finish_reason", "logprobs")
_SAID = ("role", "content", "refusal", "tool_calls", "reasoning_content", "reasoning")
_USAGE = ("prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details", "completion_tokens_details")
_TEXTS = ("content", "refusal", "reasoning_content", "reasoning")
_END = b"data: [DONE]\n\n"

Release = Callable[[str], str]


def passed(text: str) -> str:
    """The one place where text of a model goes out on OpenAI's paths; it is let out as it is."""
    return text


class ToldEvents:
    """Of one stream, fed with whole events. `wants_usage`: whether the caller asked for the chunk with the usage."""

    def __init__(self, *, wants_usage: bool, release: Release = passed) -> None:
        self._wants_usage = wants_usage
        self._release = release
        self._texts: list[str] = []
        self.spent: Spent | None = None
        """None: the engine has not told it yet."""
        self.is_done = False
        """Whether all was told, `[DONE]` included."""

    @property
    def said(self) -> str:
        """All that was told so far, also of tool calls."""
        return "".join(self._texts)

    def feed(self, events: bytes) -> bytes:
        """Raises `StreamBroken`."""
        return b"".join(map(self._told, events.split(SEPARATOR)))

    def _told(self, block: bytes) -> bytes:
        data = event_data(block)
        if data is None:
            return b""
        if data == DONE:
            self.is_done = True
            return _END
        document = read_chunk(data).document
        choices = [_told_choice(each, "delta", self._release) for each in _objects(document.get("choices"))]
        self._texts += [text for choice in choices for text in _texts(choice["delta"])]
        told = {**_kept(document, _DOCUMENT), "choices": choices}
        if (usage := document.get("usage")) is not None:
            self.spent = _spent(usage)
        if choices:
            return _event({**told, "usage": None} if self._wants_usage else told)
        return _event({**told, "usage": _usage(usage)}) if self._wants_usage and usage is not None else b""


@dataclass(frozen=True, slots=True)
class ToldWhole:
    """An answer that is no stream."""

    body: bytes
    said: str
    spent: Spent | None


def told_whole(body: bytes, *, release: Release = passed) -> ToldWhole:
    """Raises `StreamBroken` for what is no answer."""
    document = read_chunk(body).document
    choices = [_told_choice(each, "message", release) for each in _objects(document.get("choices"))]
    if not choices:
        raise StreamBroken("the answer has no choices")
    usage = document.get("usage")
    told = {**_kept(document, _DOCUMENT), "choices": choices, "usage": None if usage is None else _usage(usage)}
    said = "".join(text for choice in choices for text in _texts(choice["message"]))
    return ToldWhole(_written(told), said, None if usage is None else _spent(usage))


def _told_choice(choice: Mapping[str, object], said: str, release: Release) -> dict[str, object]:
    words = _kept(_object(choice.get(said)), _SAID)
    for name in _TEXTS:
        if isinstance(text := words.get(name), str):
            words[name] = release(text)
    return {**_kept(choice, _CHOICE), said: words}


def _texts(said: object) -> list[str]:
    """What was generated, for counting it when the engine will not tell."""
    words = _object(said)
    functions = [_object(call.get("function")) for call in _objects(words.get("tool_calls"))]
    found = [*(words.get(name) for name in _TEXTS), *(f.get(name) for f in functions for name in ("name", "arguments"))]
    return [text for text in found if isinstance(text, str)]


def _spent(usage: object) -> Spent:
    counts = _object(usage)
    prompt, completion = counts.get("prompt_tokens"), counts.get("completion_tokens")
    if not isinstance(prompt, int) or not isinstance(completion, int):
        raise StreamBroken("the usage has no such count")
    return Spent(prompt, completion)


def _usage(usage: object) -> Mapping[str, object]:
    return _kept(_object(usage), _USAGE)


def _kept(document: Mapping[str, object], names: Sequence[str]) -> dict[str, object]:
    return {name: document[name] for name in names if name in document}


def _objects(value: object) -> list[Mapping[str, object]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _event(document: Mapping[str, object]) -> bytes:
    return b"data: " + _written(document) + b"\n\n"


def _written(document: Mapping[str, object]) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
