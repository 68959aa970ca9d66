"""Rules of request bodies that go beyond the type of one field, in vLLM's words."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from loadtests.simulator.errors import bad_request, bad_value

_MOST_LOGPROBS = 20
_HOTTEST = 2
_MOST_PENALTY = 2
_MOST_CHOICES = 16384
_MOST_PROMPTS = 1024
_NOTHING_TO_DO = (
    "You must use one kind of structured outputs constraint but none are specified: {'json': None, 'regex': None, "
    "'choice': None, 'grammar': None, 'json_object': None, 'disable_any_whitespace': False, "
    "'disable_additional_properties': False, 'whitespace_pattern': None, 'structural_tag': None, '_backend': None, "
    "'_backend_was_auto': False}"
)
_CONSTRAINTS = ("json", "regex", "choice")


class _Range(NamedTuple):
    """What a sampling parameter may be; `is_named` where vLLM names the parameter once more."""

    holds: Callable[[float], bool]
    told: str
    is_named: bool = False


_RANGES = {
    "temperature": _Range(lambda value: 0 <= value <= _HOTTEST, "temperature must be in [0, 2]", is_named=True),
    "top_p": _Range(lambda value: 0 < value <= 1, "top_p must be in (0, 1]", is_named=True),
    "top_k": _Range(lambda value: value >= -1, "top_k must be 0 (disable), or at least 1"),
    "min_p": _Range(lambda value: 0 <= value <= 1, "min_p must be in [0, 1]"),
    "presence_penalty": _Range(lambda value: abs(value) <= _MOST_PENALTY, "presence_penalty must be in [-2, 2]"),
    "frequency_penalty": _Range(lambda value: abs(value) <= _MOST_PENALTY, "frequency_penalty must be in [-2, 2]"),
    "repetition_penalty": _Range(lambda value: value > 0, "repetition_penalty must be greater than zero"),
    "min_tokens": _Range(lambda value: value >= 0, "min_tokens must be greater than or equal to 0"),
}


def check_across(content: Mapping[str, Any]) -> None:
    """What depends on several fields; checked before any field by itself."""
    if content.get("stream_options") and not content.get("stream"):
        raise bad_value("Stream options can only be defined when `stream=True`.", param="stream_options")
    salt = content.get("cache_salt")
    if salt is not None and not (isinstance(salt, str) and salt):
        raise bad_value("Parameter 'cache_salt' must be a non-empty string if provided.", param="cache_salt")
    if content.get("continue_final_message") and content.get("add_generation_prompt"):
        raise bad_request("Cannot set both `continue_final_message` and `add_generation_prompt` to True.")
    if content.get("tools") == []:
        message = "`tools` must not be an empty array. Either provide at least one tool or omit the field entirely."
        raise bad_value(message, param="tools")
    _check_prompts(content.get("prompt"))
    _check_logprobs(content)
    _check_constraints(content)


def check_sampling(values: Mapping[str, float | None], *, n: int, max_tokens: int, stops: Sequence[str]) -> None:
    """`values` are the sampling parameters of a request that have a range."""
    if max_tokens < 1:
        raise bad_value(f"max_tokens must be at least 1, got {max_tokens}.", param="max_tokens", value=max_tokens)
    _check_choices(n)
    for name, value in values.items():
        if value is not None:
            _check_range(name, value)
    if (least := values.get("min_tokens") or 0) > max_tokens:
        raise bad_request(f"min_tokens must be less than or equal to max_tokens={max_tokens}, got {least}.")
    if "" in stops:
        raise bad_request("stop cannot contain an empty string.")
    if n > 1 and values.get("temperature") == 0:
        raise bad_request(f"n must be 1 when using greedy sampling, got {n}.")


def _check_choices(n: int) -> None:
    if n < 1:
        raise bad_request(f"n must be at least 1, got {n}.")
    if n > _MOST_CHOICES:
        told = "To increase this limit, set the VLLM_MAX_N_SEQUENCES environment variable."
        raise bad_request(f"n must be at most {_MOST_CHOICES}, got {n}. {told}")


def check_bias(bias: Mapping[str, float] | None) -> None:
    if strange := [token for token in bias or () if not token.lstrip("-").isdecimal()]:
        message = f"logit_bias contains key(s) that cannot be converted to integer token IDs: {strange}"
        raise bad_value(message, param="logit_bias", value=strange)


def _check_range(name: str, value: float) -> None:
    allowed = _RANGES[name]
    if name == "temperature" and not math.isfinite(value):
        raise bad_value(f"temperature must be a finite number, got {value}.", param=name, value=value)
    if name == "temperature" and value < 0:
        raise bad_value(f"temperature must be non-negative, got {value}.", param=name, value=value)
    if not allowed.holds(value):
        message = f"{allowed.told}, got {value}."
        raise bad_value(message, param=name, value=value) if allowed.is_named else bad_request(message)


def _check_prompts(prompt: object) -> None:
    """A prompt may be one list of token ids, which is as long as it likes."""
    if not isinstance(prompt, list) or len(prompt) <= _MOST_PROMPTS or all(isinstance(each, int) for each in prompt):
        return
    message = (
        f"prompt list length {len(prompt)} exceeds the maximum allowed count of {_MOST_PROMPTS}. "
        "To increase this limit, set the VLLM_MAX_COMPLETION_PROMPTS environment variable."
    )
    raise bad_value(message, param="prompt")


def _check_logprobs(content: Mapping[str, Any]) -> None:
    if content.get("stream") and content.get("prompt_logprobs"):
        raise bad_value("`prompt_logprobs` are not available when `stream=True`.", param="prompt_logprobs")
    top = content.get("top_logprobs")
    if not isinstance(top, int) or not top:
        return
    if top < -1:
        raise bad_value("`top_logprobs` must be a positive value or -1.", param="top_logprobs", value=top)
    if not content.get("logprobs"):
        raise bad_value("when using `top_logprobs`, `logprobs` must be set to true.", param="top_logprobs")
    if top > _MOST_LOGPROBS:
        message = f"Requested sample logprobs of {top}, which is greater than max allowed: {_MOST_LOGPROBS}"
        raise bad_value(message, param="logprobs", value=top)


def _check_constraints(content: Mapping[str, Any]) -> None:
    wanted = content.get("structured_outputs")
    if isinstance(wanted, dict):
        named = [name for name in _CONSTRAINTS if wanted.get(name) is not None]
        if not named and not {"grammar", "json_object", "structural_tag"} & wanted.keys():
            raise bad_request(_NOTHING_TO_DO)
        if len(named) > 1:
            kinds = "('json', 'regex' or 'choice')"
            raise bad_request(f"You can only use one kind of constraints for structured outputs {kinds}.")
    shape = content.get("response_format")
    if isinstance(shape, dict) and shape.get("type") == "json_schema":
        if (inner := shape.get("json_schema")) is None:
            message = "When response_format type is 'json_schema', the 'json_schema' field must be provided."
            raise bad_value(message, param="response_format")
        if isinstance(inner, dict) and "name" in inner and inner.get("schema") is None:
            raise bad_request(_NOTHING_TO_DO)
