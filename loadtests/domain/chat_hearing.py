"""Hears one streamed chat completion, line by line, and says what became of it.

The first text is the first chunk with generated text, be it an answer, reasoning or a call of a tool; a chunk with a
role alone is none. The usage comes behind the last text.
"""

import json

from loadtests.domain.heard import Heard, Pieces, cached_in, count_in, object_in, word_of

_END = "[DONE]"
_WITHHELD = "content_filter"


class ChatHearing:
    def __init__(self) -> None:
        self.replica: str | None = None
        """Who answers, as the head of the answer says."""
        self._pieces = Pieces()
        self._answer: list[str] = []
        self._usage: object = None
        self._finish: str | None = None
        self._failure: str | None = None
        self._is_over = False

    @property
    def is_over(self) -> bool:
        return self._is_over

    @property
    def answer(self) -> str:
        """What goes into the history: the answer without its reasoning."""
        return "".join(self._answer)

    def stop(self) -> None:
        """The trainee goes away in mid-reply."""
        self._finish = "cancelled"
        self._is_over = True

    def line(self, raw: bytes, *, at: float) -> None:
        """One line of the stream without its LF, and when it came."""
        field, _, value = raw.decode("utf-8", "replace").rstrip("\r").partition(":")
        if field != "data":
            return
        value = value.strip()
        if value == _END:
            self._is_over = True
            return
        data = object_in(value)
        if data is None or self._is_over:
            self._failure = "malformed"
        else:
            self._chunk(data, at)

    def heard(self, *, failure: str | None = None) -> Heard:
        """What became of the chat; `failure` says what the connection did."""
        details = self._usage.get("prompt_tokens_details") if isinstance(self._usage, dict) else None
        prompt_tokens = count_in(self._usage, "prompt_tokens") or 0
        return Heard(
            text=self._pieces.text,
            first_at=self._pieces.first_at,
            last_at=self._pieces.last_at,
            pieces=len(self._pieces.stamps),
            gaps_s=self._pieces.gaps_s,
            prompt_tokens=prompt_tokens,
            cached_tokens=cached_in(details, prompt_tokens=prompt_tokens),
            completion_tokens=count_in(self._usage, "completion_tokens") or 0,
            replica=self.replica,
            finish=self._finish,
            failure=self._failure or failure or self._missing(),
        )

    def _missing(self) -> str | None:
        if not self._is_over:  # whoever broke off behind the last text may have lost some of it
            return "no_end"
        if self._finish is None:
            return "no_finish"
        if self._finish == _WITHHELD:
            return "moderated"
        return None if self._pieces.stamps else "empty"

    def _chunk(self, data: dict[str, object], at: float) -> None:
        if error := data.get("error"):
            code = error.get("code") or error.get("type") if isinstance(error, dict) else None
            self._failure = word_of(code or "error")
        self._usage = data.get("usage") or self._usage
        choices = data.get("choices")
        if not (isinstance(choices, list) and choices and isinstance(choices[0], dict)):
            return
        delta = choices[0].get("delta")
        if isinstance(delta, dict):
            self._delta(delta, at)
        if reason := choices[0].get("finish_reason"):
            self._finish = str(reason)

    def _delta(self, delta: dict[str, object], at: float) -> None:
        content = str(delta.get("content") or "")
        reasoning = str(delta.get("reasoning") or delta.get("reasoning_content") or "")
        calls = json.dumps(delta["tool_calls"]) if delta.get("tool_calls") else ""
        if text := reasoning + content + calls:
            self._answer.append(content)
            self._pieces.add(text, at)
