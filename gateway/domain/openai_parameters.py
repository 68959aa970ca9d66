"""Which parameters of a chat completion go on to the engine, which are left out, and which are refused.

What is not named here is unknown and refused: a misspelt parameter would otherwise be ignored in silence.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gateway.domain.openai_checks import (
    biases,
    flag,
    number,
    response_format,
    some_of,
    stops,
    tool_choice,
    tools,
    whole,
)
from gateway.errors import FieldInvalid, ParameterUnsupported

Check = Callable[[object], str]
"""What is wrong with a value; empty: nothing."""

FORWARDED: Mapping[str, Check] = {
    "frequency_penalty": number(-2, 2),
    "logit_bias": biases,
    "parallel_tool_calls": flag,
    "presence_penalty": number(-2, 2),
    "response_format": response_format,
    "seed": whole(-(2**63), 2**63 - 1),
    "stop": stops,
    "temperature": number(0, 2),
    "tool_choice": tool_choice,
    "tools": tools,
    "top_p": number(0, 1),
}
"""What is forwarded unless the settings say otherwise."""

FORWARDABLE: Mapping[str, Check] = {
    "bad_words": stops,
    "ignore_eos": flag,
    "include_reasoning": flag,
    "include_stop_str_in_output": flag,
    "logprobs": flag,
    "min_p": number(0, 1),
    "min_tokens": whole(0, 2**31 - 1),
    "reasoning_effort": some_of("none", "minimal", "low", "medium", "high"),
    "repetition_penalty": number(0.01, 10),
    "skip_special_tokens": flag,
    "top_k": whole(-1, 2**31 - 1),
    "top_logprobs": whole(0, 20),
}
"""What the settings may have forwarded beside it; refused by default."""

DROPPED = frozenset(
    {
        "metadata",
        "priority",
        "prompt_cache_key",
        "prompt_cache_retention",
        "safety_identifier",
        "service_tier",
        "verbosity",
    }
)
"""Changes nothing of the reply, or is not the caller's to say; a client that sends it is served without it."""

OWN = frozenset(
    {"cache_salt", "max_completion_tokens", "max_tokens", "messages", "model", "stream", "stream_options", "user"}
)
"""What the gateway reads itself, or writes itself whatever the caller says."""

REFUSED = frozenset(
    {
        # of OpenAI
        "audio",
        "function_call",
        "functions",
        "modalities",
        "n",
        "prediction",
        "store",
        "web_search_options",
        # of vLLM
        "add_generation_prompt",
        "add_special_tokens",
        "allowed_token_ids",
        "chat_template",
        "chat_template_kwargs",
        "continue_final_message",
        "documents",
        "echo",
        "guided_choice",
        "guided_decoding_backend",
        "guided_grammar",
        "guided_json",
        "guided_regex",
        "guided_whitespace_pattern",
        "kv_transfer_params",
        "length_penalty",
        "logits_processors",
        "media_io_kwargs",
        "mm_processor_kwargs",
        "prompt_logprobs",
        "request_id",
        "return_token_ids",
        "return_tokens_as_token_ids",
        "spaces_between_special_tokens",
        "stop_token_ids",
        "stream_interval",
        "structured_outputs",
        "truncate_prompt_tokens",
        "use_beam_search",
        "vllm_xargs",
    }
)
"""Refused whatever the settings say, unless its value asks for nothing."""

_ASKS_FOR_NOTHING: Mapping[str, object] = {
    "add_generation_prompt": True,
    "add_special_tokens": False,
    "continue_final_message": False,
    "echo": False,
    "ignore_eos": False,
    "include_reasoning": True,
    "include_stop_str_in_output": False,
    "logprobs": False,
    "min_tokens": 0,
    "modalities": ["text"],
    "n": 1,
    "return_token_ids": False,
    "return_tokens_as_token_ids": False,
    "skip_special_tokens": True,
    "store": False,
    "top_logprobs": 0,
    "use_beam_search": False,
}
"""What clients write out though it is the default anyway."""


@dataclass(frozen=True, slots=True)
class ParameterPolicy:
    """What an installation lets callers say. `forwarded` are names of the two tables above."""

    forwarded: frozenset[str] = frozenset(FORWARDED)
    reply_tokens: int = 2048
    """The most that one reply may have, and what it has where the caller names no limit."""


def sifted(body: Mapping[str, object], policy: ParameterPolicy) -> dict[str, object]:
    """The parameters that go on as they are; raises `ParameterUnsupported` or `FieldInvalid`."""
    return {name: value for name, value in body.items() if name not in OWN and _goes_on(name, value, policy)}


def reply_tokens(body: Mapping[str, object], policy: ParameterPolicy) -> int:
    """How long the reply may be: the newer of the two names counts; raises `FieldInvalid`."""
    for name in ("max_completion_tokens", "max_tokens"):
        asked = body.get(name)
        if asked is not None:
            _demand(name, asked, whole(1, 2**31 - 1))
            assert isinstance(asked, int)  # noqa: S101  as was just found
            return min(asked, policy.reply_tokens)
    return policy.reply_tokens


def _goes_on(name: str, value: object, policy: ParameterPolicy) -> bool:
    check = FORWARDED.get(name) or FORWARDABLE.get(name)
    if check is None and name not in DROPPED | REFUSED:
        raise ParameterUnsupported(name[:100], is_known=False)
    if value is None or name in DROPPED:
        return False
    if check is not None and name in policy.forwarded:
        _demand(name, value, check)
        return True
    usual = _ASKS_FOR_NOTHING.get(name)
    if type(value) is not type(usual) or value != usual:
        raise ParameterUnsupported(name)
    return False


def _demand(name: str, value: object, check: Check) -> None:
    if wrong := check(value):
        raise FieldInvalid(name, wrong)
