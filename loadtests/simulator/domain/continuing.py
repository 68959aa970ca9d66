"""A reply that was begun elsewhere: the conversation it belongs to, and what of it is still to be said.

A model that reads the beginning of its own reply goes on with it. The simulated one says a whole reply that depends on
the conversation alone, so it has to be told where in it to go on.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from loadtests.simulator.domain.packed_tokens import END, START, Token
from loadtests.simulator.domain.replies import Said

_ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Opened:
    """A conversation, and as much of the reply to it as has been said already."""

    conversation: tuple[Said, ...]
    begun: str = ""


def opened_by(prompt: str) -> Opened | None:
    """What a rendered chat (ChatML) says; None for any other text, and for a chat that does not wait for a reply."""
    before, *messages = prompt.split(START)
    if before.strip() or not messages:
        return None
    *whole, last = [message.partition("\n") for message in messages]
    role, _, begun = last
    if role != _ASSISTANT or END in begun:
        return None
    return Opened(tuple(Said(each[0], each[2].rpartition(END)[0]) for each in whole), begun)


def reopened(conversation: Sequence[Said], *, continues: bool) -> Opened:
    """A chat whose final message may be the beginning of the reply."""
    if continues and conversation and conversation[-1].role == _ASSISTANT:
        return Opened(tuple(conversation[:-1]), conversation[-1].content)
    return Opened(tuple(conversation))


def tokens_after(tokens: Sequence[Token], begun: str) -> tuple[list[Token], str] | None:
    """The tokens that follow what was said, and the rest of the token in whose middle that ends; None when the reply
    does not begin like this.
    """
    said = ""
    for count, token in enumerate(tokens):
        if len(said) >= len(begun):
            break
        said += token.text
        if not (begun.startswith(said) or said.startswith(begun)):
            return None
        if len(said) >= len(begun):
            return list(tokens[count + 1 :]), said[len(begun) :]
    return (list(tokens), "") if not begun else None
