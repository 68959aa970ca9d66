"""What one streamed chat reply came to, and in what it differs from the same reply undisturbed."""

import json
from dataclasses import dataclass, field

_DONE = "[DONE]"


@dataclass(slots=True)
class HeardReply:
    """Fed the stream's lines; comments are left out of account."""

    text: str = ""
    finish: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    ids: set[str] = field(default_factory=set)
    roles: int = 0
    events: int = 0
    joints: int = 0
    is_done: bool = False
    failure: str = ""

    def line(self, line: str) -> bool:
        """Whether it was an event."""
        if not line.startswith("data: "):
            self.joints += line.startswith(":") and "continued" in line
            return False
        self.events += 1
        if self.is_done:
            self.failure = self.failure or "an event after the end"
        data = line.removeprefix("data: ")
        if data == _DONE:
            self.is_done = True
        else:
            self._document(json.loads(data))
        return True

    def _document(self, document: dict[str, object]) -> None:
        if document.get("error") is not None:
            self.failure = self.failure or f"error event: {document['error']}"
            return
        self.ids.add(str(document.get("id")))
        usage, choices = document.get("usage"), document.get("choices")
        if isinstance(usage, dict):
            self.prompt_tokens, self.completion_tokens = usage["prompt_tokens"], usage["completion_tokens"]
        for choice in choices if isinstance(choices, list) else ():
            delta = choice["delta"]
            self.roles += "role" in delta
            self.text += delta.get("content") or ""
            self.finish = choice.get("finish_reason") or self.finish


def differences(heard: HeardReply, undisturbed: HeardReply, *, counts_tokens: bool = True) -> list[str]:
    """In words; none: nothing can be told from it."""
    found = [heard.failure] if heard.failure else []
    if not heard.is_done:
        found.append("it has no end")
    if heard.text != undisturbed.text:
        found.append(_where(heard.text, undisturbed.text))
    if heard.finish != undisturbed.finish:
        found.append(f"finish reason {heard.finish} instead of {undisturbed.finish}")
    if len(heard.ids) != 1 or heard.roles != 1:
        found.append(f"{len(heard.ids)} ids and {heard.roles} roles")
    told, true = (
        (heard.prompt_tokens, heard.completion_tokens),
        (
            undisturbed.prompt_tokens,
            undisturbed.completion_tokens,
        ),
    )
    if counts_tokens and told != true:
        found.append(f"usage {told} instead of {true}")
    return found


def _where(text: str, whole: str) -> str:
    at = next((place for place, pair in enumerate(zip(text, whole, strict=False)) if pair[0] != pair[1]), None)
    at = min(len(text), len(whole)) if at is None else at
    return f"text differs at {at} of {len(whole)}: {text[at : at + 20]!r} instead of {whole[at : at + 20]!r}"
