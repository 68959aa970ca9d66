"""What the body of a call asks of an engine, as far as a continuation depends on it.

Reading a long prompt as JSON costs more than relaying its reply, so the body is read only when something depends on
it, and the token ids are asked for by a splice into its bytes.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from router.domain.exchange import Call, CallPath

_TOKEN_IDS = b'"return_token_ids"'
_SEVERAL = re.compile(rb'"(?:n|best_of|use_beam_search)"\s*:')
_PROMPT_LIST = re.compile(rb'"prompt"\s*:\s*\[')
_DEFAULT_COMPLETION_TOKENS = 16
_GRAMMARS = (
    *("structured_outputs", "guided_json", "guided_regex", "guided_choice", "guided_grammar"),
    *("json_schema", "regex", "ebnf", "grammar"),
)


def says_token_ids(call: Call) -> bool:
    return _has(call.body, _TOKEN_IDS)


def can_take_token_ids(call: Call) -> bool:
    """Whether the caller has left it to us to ask for token ids."""
    return call.is_streamed and not says_token_ids(call) and call.body.rstrip().endswith(b"}")


def with_token_ids(call: Call) -> Call:
    """The same call, byte for byte, which asks for token ids too."""
    head = call.body.rstrip()[:-1].rstrip()
    comma = b"" if head.endswith(b"{") else b","
    return replace(call, body=head + comma + _TOKEN_IDS + b":true}")


def may_have_several_choices(call: Call) -> bool:
    """May err on the safe side: the words may stand deeper in the body."""
    if call.path is CallPath.COMPLETIONS and _PROMPT_LIST.search(call.body):
        return True
    return _SEVERAL.search(call.body) is not None


def may_want_usage(call: Call) -> bool:
    return _has(call.body, b'"include_usage"')


def _has(body: bytes, name: bytes) -> bool:
    """As `in`; from behind, where options mostly stand, and several times faster over a long prompt."""
    return body.rfind(name) >= 0


@dataclass(frozen=True, slots=True)
class Asked:
    """The body, read."""

    path: CallPath
    body: Mapping[str, object]

    @property
    def choices(self) -> int:
        """How many replies come in one stream."""
        n = self.body.get("n")
        prompt = self.body.get("prompt")
        prompts = len(prompt) if isinstance(prompt, list) and not _is_ids(prompt) else 1
        return (n if isinstance(n, int) else 1) * prompts

    @property
    def wants_usage(self) -> bool:
        options = self.body.get("stream_options")
        return isinstance(options, dict) and options.get("include_usage") is True

    @property
    def most_tokens(self) -> int | None:
        """None: as many as the window holds, or not known."""
        if self.path is CallPath.CHAT:
            most = self.body.get("max_completion_tokens")
            most = self.body.get("max_tokens") if most is None else most
        else:
            most = self.body.get("max_tokens", _DEFAULT_COMPLETION_TOKENS)
        return most if isinstance(most, int) else None

    @property
    def tokens_per_event(self) -> int:
        interval = self.body.get("stream_interval")
        return interval if isinstance(interval, int) and interval > 1 else 1

    @property
    def stops(self) -> Sequence[str]:
        stop = self.body.get("stop")
        stops = [stop] if isinstance(stop, str) else stop
        return [each for each in stops if isinstance(each, str) and each] if isinstance(stops, list) else []

    @property
    def watched_stops(self) -> Sequence[str]:
        """Those that may not stand across a joint. Before `min_tokens` any may stand anywhere."""
        return [] if self.body.get("min_tokens") else self.stops

    @property
    def tells_stops(self) -> bool:
        return bool(self.body.get("include_stop_str_in_output"))

    @property
    def held_chars(self) -> int:
        """By so many characters vLLM's tokens run ahead of its text, lest the head of a stop string be told."""
        return 0 if self.tells_stops else max((len(stop) - 1 for stop in self.stops), default=0)

    @property
    def is_repeatable(self) -> bool:
        """Whether a second answer can be expected to say the same."""
        return self.body.get("temperature") == 0 or isinstance(self.body.get("seed"), int)

    @property
    def is_constrained(self) -> bool:
        """Whether a grammar holds over the whole reply, which the second half alone does not satisfy."""
        form = self.body.get("response_format")
        kind = form.get("type") if isinstance(form, dict) else None
        return kind not in (None, "text") or any(self.body.get(name) is not None for name in _GRAMMARS)

    @property
    def has_tools(self) -> bool:
        return bool(self.body.get("tools") or self.body.get("functions")) and self.body.get("tool_choice") != "none"

    @property
    def must_call_a_tool(self) -> bool:
        choice = self.body.get("tool_choice")
        return choice == "required" or isinstance(choice, dict)

    @property
    def has_only_text(self) -> bool:
        """Whether token ids are the whole prompt: pictures and sounds are not in them."""
        messages = self.body.get("messages")
        return not isinstance(messages, list) or all(_is_text(message) for message in messages)


def read_asked(call: Call) -> Asked:
    """A body that is no JSON object asks for nothing; the engine refuses it."""
    try:
        body: object = json.loads(call.body)
    except (ValueError, RecursionError):
        body = None
    return Asked(call.path, body if isinstance(body, dict) else {})


def _is_ids(prompt: Sequence[object]) -> bool:
    return all(isinstance(item, int) for item in prompt)


def _is_text(message: object) -> bool:
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list):
        return True
    return all(isinstance(part, str) or (isinstance(part, dict) and part.get("type") == "text") for part in content)
