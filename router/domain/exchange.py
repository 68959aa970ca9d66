"""What goes to a replica for one turn, and what comes back."""

from dataclasses import dataclass
from enum import StrEnum


class CallPath(StrEnum):
    """The generating paths of the OpenAI API."""

    CHAT = "/v1/chat/completions"
    COMPLETIONS = "/v1/completions"


@dataclass(frozen=True, slots=True)
class Call:
    """One generation as it goes over the wire.

    `body` is a JSON object and is sent byte for byte: the replica's prefix cache depends on its messages.
    """

    path: CallPath
    body: bytes
    model: str
    is_streamed: bool
    request_id: str
    """Names the request in the engine's logs and in the decision log; never a routing key."""
    headers: tuple[tuple[str, str], ...] = ()
    """Sent along beside content type, accept and request id: session id, trace parent."""


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
    kv_tokens: int = 0
    """What the session is expected to hold in the KV cache; 0: not known."""
    cohort: str = ""
    """Names the prefix it shares with others; empty: none."""
    trace_parent: str = ""
    """The W3C `traceparent` under which it is traced; empty: none."""
    template_arguments: tuple[tuple[str, str], ...] = ()
    """What the engine gives to its chat template beside the messages."""
    priority: int = 0
    """Over 0: a background call, which gives way to turns. It changes neither the reply nor a byte of the body."""


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
    usage: Usage | None
    """None: the engine has told none."""


StreamItem = TextPiece | Finished
