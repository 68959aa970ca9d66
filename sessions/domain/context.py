"""How the next prompt of a session is built, for people who want to look."""

from dataclasses import dataclass
from enum import StrEnum

from sessions.domain.prompt import Message
from sessions.domain.session import SessionId


class BlockKind(StrEnum):
    SYSTEM = "system"
    SCRIPT = "script"
    OPENING = "opening"
    TURNS = "turns"


@dataclass(frozen=True, slots=True)
class Block:
    """One part of the prompt; the turn numbers stand at the block of turns only."""

    kind: BlockKind
    tokens: int
    sha256: str
    from_turn: int | None = None
    to_turn: int | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """Everything that stands before the next message. `available_tokens` is what that message may take at most."""

    session: SessionId
    model: str
    window_tokens: int
    reply_tokens: int
    prompt_tokens: int
    available_tokens: int
    blocks: tuple[Block, ...]
    messages: tuple[Message, ...]
    cut_turns: int
    """Turns left out, oldest first, because the window is full."""
    prompt_sha256: str
    counted_by: str
    """What counted the tokens, and why nothing faster did."""
