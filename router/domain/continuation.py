"""How a reply that broke off is taken up by another replica: by its tokens, by its text, anew, or not at all.

By tokens is exact: the prompt of a completion ends with the very tokens the first replica generated. By text the
replica reads what was said as the head of its own message and may split it into other tokens. Anew means that the whole
reply is generated a second time and its head is not told again; that is right only if the head is the same, which is
checked. Where none of these can be honest, the reply ends.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from router.domain.asked import Asked
from router.domain.delivered import Delivered, Footing
from router.domain.exchange import Call, CallPath

_SAME_ON_BOTH_PATHS = (
    *("model", "temperature", "top_p", "top_k", "min_p", "seed", "user"),
    *("presence_penalty", "frequency_penalty", "repetition_penalty", "logit_bias", "allowed_token_ids"),
    *("stop", "stop_token_ids", "include_stop_str_in_output", "ignore_eos"),
    *("skip_special_tokens", "spaces_between_special_tokens", "return_tokens_as_token_ids"),
    *("cache_salt", "priority", "session_id", "request_id", "vllm_xargs", "logits_processors"),
    *("stream_options", "stream_interval"),
    *("max_repetition_pattern_size", "min_repetition_pattern_size", "repetition_min_count", "repetition_detection"),
)
_LIMITS = ("max_tokens", "max_completion_tokens")
_UNREADABLE = "\ufffd"


@dataclass(frozen=True, slots=True)
class Continuation:
    """The call that continues, from where it does, and what of its answer has been told already."""

    call: Call
    start: Footing
    overlap: str = ""
    must_overlap: bool = False
    """Whether an answer that does not begin with `overlap` is another reply; otherwise it is just not repeated."""


@dataclass(frozen=True, slots=True)
class Exhausted:
    """The reply has all it may have."""

    stop: str | None = None
    """The stop string that ends it; None: it has as many tokens as it may."""


@dataclass(frozen=True, slots=True)
class Impossible:
    why: str


Plan = Continuation | Exhausted | Impossible


@dataclass(frozen=True, slots=True)
class Planner:
    """Of one caller's call. `window_tokens` is the model's window, if it is known."""

    call: Call
    asked: Asked
    window_tokens: int | None = None

    def plan(self, told: Delivered, *, has_diverged: bool = False) -> Plan:
        """`has_diverged`: an earlier answer did not say again what it should have."""
        if why := self._obstacle(told):
            return Impossible(why)
        if self.asked.is_constrained:
            return self._anew(told, has_diverged=has_diverged)
        if self._rest(told.tokens(per_event=self.asked.tokens_per_event), told) == 0:
            return Exhausted()
        return self._by_tokens(told, has_diverged=has_diverged) or self._by_text(told)

    def _obstacle(self, told: Delivered) -> str:
        body = self.asked.body
        if self.asked.choices > 1 or body.get("use_beam_search"):
            return "several replies in one stream cannot be continued"
        if told.has_more_than_text or self.asked.must_call_a_tool:
            return "a tool call cannot be continued"
        if body.get("echo") or body.get("prompt_embeds") is not None:
            return "a reply that repeats its prompt, or has none in words, cannot be continued"
        if told.has_reasoning and not told.text:
            return "reasoning cannot be continued"
        return "reasoning that was not told cannot be continued" if body.get("include_reasoning") is False else ""

    def _anew(self, told: Delivered, *, has_diverged: bool) -> Continuation | Impossible:
        if not self.asked.is_repeatable or told.has_reasoning:
            return Impossible("an answer under a schema cannot be continued")
        if has_diverged:
            return Impossible("an answer under a schema came out differently the second time")
        return Continuation(self.call, Footing(), told.text, must_overlap=True)

    def _by_tokens(self, told: Delivered, *, has_diverged: bool) -> Continuation | None:
        if not self._suits_completions():
            return None
        start = told.footing(held_chars=self.asked.held_chars)
        if start is None or start.ids is None:
            return None
        overlap = told.text[len(start.text) :]
        if overlap and (has_diverged or self.asked.body.get("temperature") != 0):
            return None
        rest = self._rest(start.tokens, told)
        if rest is None and self.asked.path is CallPath.CHAT:
            # A chat without a limit goes on to the end of its window, a completion stops after 16 tokens.
            return None
        return Continuation(self._completion(start, rest), start, overlap, must_overlap=True)

    def _suits_completions(self) -> bool:
        """Whether the completion path can do all that the call asks for."""
        if self.asked.path is CallPath.COMPLETIONS:
            return True
        body = self.asked.body
        return not (self.asked.has_tools or body.get("logprobs") or body.get("bad_words")) and self.asked.has_only_text

    def _completion(self, start: Footing, rest: int | None) -> Call:
        names = {*_SAME_ON_BOTH_PATHS}
        if self.asked.path is CallPath.COMPLETIONS:
            names |= {"logprobs", "max_tokens"}
        body = {name: value for name, value in self.asked.body.items() if name in names}
        body |= {"prompt": start.ids, "stream": True, "return_token_ids": True, **self._min_tokens(start.tokens)}
        if rest is not None:
            body["max_tokens"] = rest
        return self._sent(CallPath.COMPLETIONS, body)

    def _by_text(self, told: Delivered) -> Continuation | Impossible:
        text = _to_go_on_from(told.text)
        overlap = told.text[len(text) :]
        if not text:
            return Continuation(self.call, Footing(), overlap)
        if told.has_reasoning:
            return Impossible("a reply that was reasoned about cannot be continued by its text")
        head = self._with_text(text)
        if head is None:
            return Impossible("the prompt cannot be continued by text")
        tokens = told.tokens_of(text, held_chars=self.asked.held_chars, per_event=self.asked.tokens_per_event)
        body = {**self.asked.body, **head, **self._limits(tokens, told), **self._min_tokens(tokens)}
        body.pop("kv_transfer_params", None)  # says where the first replica found its cache
        start = Footing(text, tokens, is_counted=told.is_counted)
        return Continuation(self._sent(self.asked.path, body), start, overlap)

    def _with_text(self, text: str) -> Mapping[str, object] | None:
        body = self.asked.body
        if self.asked.path is CallPath.CHAT:
            messages = body.get("messages")
            return self._messages(messages, text) if isinstance(messages, list) else None
        prompt = body.get("prompt")
        if isinstance(prompt, list) and len(prompt) == 1:
            prompt = prompt[0]
        return {"prompt": prompt + text} if isinstance(prompt, str) else None

    def _messages(self, messages: list[object], text: str) -> Mapping[str, object] | None:
        told = {"role": "assistant", "content": text}
        if self.asked.body.get("continue_final_message"):
            *messages, last = messages or [None]
            content = last.get("content") if isinstance(last, dict) else None
            if not isinstance(last, dict) or not isinstance(content, str):
                return None
            told = {**last, "content": content + text}
        return {"messages": [*messages, told], "continue_final_message": True, "add_generation_prompt": False}

    def _rest(self, tokens: int, told: Delivered) -> int | None:
        """How many may still come; None: not known."""
        most = self.asked.most_tokens
        if most is None and self.window_tokens is not None and told.prompt_tokens is not None:
            most = self.window_tokens - told.prompt_tokens
        return None if most is None else max(0, most - tokens)

    def _limits(self, tokens: int, told: Delivered) -> Mapping[str, object]:
        most = {name: self.asked.body.get(name) for name in _LIMITS}
        limits = {name: max(1, number - tokens) for name, number in most.items() if isinstance(number, int)}
        if not limits and self.asked.path is CallPath.COMPLETIONS:
            return {"max_tokens": self._rest(tokens, told)}
        return limits

    def _min_tokens(self, tokens: int) -> Mapping[str, object]:
        least = self.asked.body.get("min_tokens")
        return {"min_tokens": max(0, least - tokens)} if isinstance(least, int) else {}

    def _sent(self, path: CallPath, body: Mapping[str, object]) -> Call:
        # ASCII, so that half a surrogate pair in the caller's words comes through as it was.
        return replace(self.call, path=path, body=json.dumps(body, separators=(",", ":")).encode())


def _to_go_on_from(text: str) -> str:
    """A space at the end would be a token of its own, after which no model finds back to its words. An unreadable
    character there is to vLLM one that is only half said: it repeats the prompt when it has the rest.
    """
    while (shorter := text.rstrip().rstrip(_UNREADABLE)) != text:
        text = shorter
    return text
