"""A chat completion as it is asked for, and as it goes to the engine."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from gateway.domain.openai_checks import flag
from gateway.domain.openai_messages import ChatMessage, messages_of
from gateway.domain.openai_parameters import ParameterPolicy, reply_tokens, sifted
from gateway.errors import FieldInvalid, ParameterUnsupported

LONGEST_KEY = 256
_LONGEST_MODEL = 256
_COHORT_CHARACTERS = 4096


@dataclass(frozen=True, slots=True)
class AskedChat:
    """One request, understood and checked, but for what depends on the model."""

    model: str
    messages: tuple[ChatMessage, ...]
    parameters: Mapping[str, object]
    """What goes on to the engine as it is."""
    reply_tokens: int
    is_streamed: bool
    wants_usage: bool
    """Of a stream, in a chunk of its own."""
    user: str
    """Empty: none was named."""


def asked_chat(body: object, policy: ParameterPolicy) -> AskedChat:
    """Raises `FieldInvalid` or `ParameterUnsupported`."""
    if not isinstance(body, dict):
        raise FieldInvalid("body", "it must be a JSON object")
    parameters = sifted(body, policy)
    model, user = body.get("model"), body.get("user")
    if not isinstance(model, str) or not 1 <= len(model) <= _LONGEST_MODEL:
        raise FieldInvalid("model", f"it is needed, as text of at most {_LONGEST_MODEL} characters")
    if "tool_choice" in parameters and "tools" not in parameters:
        raise FieldInvalid("tool_choice", "it needs tools")
    is_streamed = _flag("stream", body.get("stream"))
    return AskedChat(
        model=model,
        messages=messages_of(body.get("messages")),
        parameters=parameters,
        reply_tokens=reply_tokens(body, policy),
        is_streamed=is_streamed,
        wants_usage=_wants_usage(body.get("stream_options"), is_streamed=is_streamed),
        user="" if user is None else session_name("user", user),
    )


def session_name(field: str, value: object) -> str:
    """What a caller calls a session of its own; raises `FieldInvalid`."""
    if not isinstance(value, str) or not 1 <= len(value) <= LONGEST_KEY or not value.isprintable():
        raise FieldInvalid(field, f"it must be text of 1 to {LONGEST_KEY} printable characters")
    return value


def affinity_of(tenant: UUID, name: str) -> str:
    """The key of a caller's session: another one in each tenant, and none of a training session."""
    return f"chat-{_digest(f'drillyard chat of {tenant} {name}')[:32]}"


def cohort_of(tenant: UUID, messages: Sequence[ChatMessage]) -> str:
    """Names the system prompt that several sessions of a tenant may share; empty: there is none."""
    content = messages[0].get("content") if messages[0].get("role") == "system" else None
    if not isinstance(content, str) or not content:
        return ""
    return _digest(f"drillyard chat cohort {tenant} {content[:_COHORT_CHARACTERS]}")[:24]


def engine_body(
    asked: AskedChat,
    *,
    model: str,
    messages: Sequence[ChatMessage],
    max_tokens: int,
    cache_salt: str,
    template_arguments: Mapping[str, str],
) -> bytes:
    """What is ours stands last and stands over all that was asked. A stream always tells its usage, for the limits."""
    body: dict[str, object] = {
        "model": model,
        "messages": list(messages),
        **asked.parameters,
        "max_tokens": max_tokens,
        "stream": asked.is_streamed,
        "cache_salt": cache_salt,
    }
    if asked.is_streamed:
        body["stream_options"] = {"include_usage": True}
    if template_arguments:
        body["chat_template_kwargs"] = dict(template_arguments)
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _wants_usage(options: object, *, is_streamed: bool) -> bool:
    if options is None:
        return False
    if not is_streamed:
        raise FieldInvalid("stream_options", "it is only for a stream")
    if not isinstance(options, dict):
        raise FieldInvalid("stream_options", "it must be an object")
    for name in options:
        if name not in {"include_usage", "include_obfuscation"}:
            raise ParameterUnsupported(f"stream_options.{name}"[:100])
    return _flag("stream_options.include_usage", options.get("include_usage"))


def _flag(name: str, value: object) -> bool:
    if value is not None and (wrong := flag(value)):
        raise FieldInvalid(name, wrong)
    return value is True


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
