"""How the next prompt of a session is built, for people who want to look."""

from dataclasses import dataclass
from enum import StrEnum

from sessions.domain.note import Note
from sessions.domain.prompt import Message
from sessions.domain.session import SessionId


class BlockKind(StrEnum):
    SYSTEM = "system"
    SCRIPT = "script"
    OPENING = "opening"
    SUMMARY = "summary"
    """The notes on folded turns, with the reply that bridges over to those that follow."""
    TURNS = "turns"
    KNOWLEDGE = "knowledge"
    """Not there yet: what is kept free for the background of the next message."""


@dataclass(frozen=True, slots=True)
class Block:
    """One part of the prompt; only summary and turns have turn numbers."""

    kind: BlockKind
    tokens: int
    sha256: str
    from_turn: int | None = None
    to_turn: int | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """Everything that stands before the next message. `available_tokens` is what that message may take
    before older turns must be folded for it."""

    session: SessionId
    model: str
    window_tokens: int
    reply_tokens: int
    prompt_tokens: int
    available_tokens: int
    blocks: tuple[Block, ...]
    messages: tuple[Message, ...]
    summary: str
    """The notes on what no longer stands word for word, as the tutor is shown them; empty without any."""
    notes: tuple[Note, ...]
    """The live ones, by the turns that they cover."""
    prompt_sha256: str
    counted_by: str
    """What counted the tokens, and why nothing faster did."""
