"""What chat completions need from outside: who carries a call to a replica, and who counts its tokens."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from gateway.domain.openai_messages import ChatMessage
from router.domain.asks import Asks
from router.domain.exchange import Call
from router.domain.fleet import AffinityKey, ReplicaId
from router.domain.pin import PinDecision


class CarriedCall(Protocol):
    """A call that a replica has taken; whoever holds it must close it."""

    @property
    def replica(self) -> ReplicaId:
        """Where it runs now, or ran last."""

    @property
    def pin(self) -> PinDecision: ...

    async def read(self) -> bytes:
        """Of a stream whole events, as they come; a whole answer in one piece; empty at the end.

        Raises an `EngineError` when the reply broke and no replica could go on with it.
        """

    def close(self) -> None:
        """Give everything back; what is not finished is cut, down to the engine. May be called twice."""


class CallCarrier(Protocol):
    """The router, in this process or behind HTTP."""

    async def carry(self, call: Call, *, session: AffinityKey | None, asks: Asks) -> CarriedCall:
        """Return once a replica has taken the call, before any token of a stream; raises a `RouterError`."""


class ChatCounter(Protocol):
    """The tokenizer of one model."""

    @property
    def special_tokens(self) -> tuple[str, ...]: ...

    @property
    def template_arguments(self) -> Mapping[str, str]:
        """What the engine must be told so that it writes the prompt which is counted here."""

    def count_chat(self, messages: Sequence[ChatMessage], tools: object) -> int | None:
        """Of a whole prompt as the engine writes it, from any thread; None: the chat template refuses the messages."""

    def count_once(self, text: str) -> int:
        """From any thread."""
