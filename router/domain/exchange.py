"""What goes to a replica for one turn, and what comes back."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message as the engine's API takes it."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One generation; `messages` must be sent byte for byte, since the replica's prefix cache depends on them."""

    model: str
    messages: tuple[Message, ...]
    max_tokens: int
    temperature: float
    cache_salt: str
    request_id: str
    """Names the request in the engine's logs; never a routing key."""
    session_id: str = ""
    """Told to the engine, which may record it; it changes neither the reply nor what is cached."""


class FinishReason(StrEnum):
    """The only reasons with which a stream counts as complete."""

    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the engine counted them; `cached_tokens` of the prompt came from its prefix cache."""

    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class TextPiece:
    text: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The last item of every complete stream."""

    reason: FinishReason
    usage: Usage


StreamItem = TextPiece | Finished
