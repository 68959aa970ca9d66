"""A router that a test plays for chat completions: it answers as vLLM does, breaks and waits where it is told to."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from typing_extensions import override

from gateway.domain.openai_messages import ChatMessage
from gateway.openai_ports import CallCarrier, CarriedCall, ChatCounter
from router.domain.asks import Asks
from router.domain.exchange import Call
from router.domain.fleet import AffinityKey, ReplicaId
from router.domain.pin import PinDecision
from tests.support.vllm_wire import DONE, Generation

PROMPT_TOKENS = 21
PIECES = ("Good ", "day, ", "你好!")
REPLY = "".join(PIECES)


class WordsOfChat(ChatCounter):
    """Four tokens a message and one a word; a message of the tool `unheard` is refused by the template."""

    @property
    @override
    def special_tokens(self) -> tuple[str, ...]:
        return ("<|im_start|>", "<|im_end|>")

    @property
    @override
    def template_arguments(self) -> dict[str, str]:
        return {"date_string": "26 Jul 2024"}

    @override
    def count_chat(self, messages: Sequence[ChatMessage], tools: object) -> int | None:
        if any(message.get("name") == "unheard" for message in messages):
            return None
        return sum(4 + self.count_once(str(message["content"])) for message in messages)

    @override
    def count_once(self, text: str) -> int:
        return len(text.split())


@dataclass
class Carried(CarriedCall):
    """`script` holds what is read in turn; an exception among it is raised, an event waited for."""

    script: list[bytes | Exception | asyncio.Event]
    is_closed: bool = False
    when_closed: Callable[[], None] = lambda: None

    @property
    @override
    def replica(self) -> ReplicaId:
        return ReplicaId("a")

    @property
    @override
    def pin(self) -> PinDecision:
        return PinDecision.NEW

    @override
    async def read(self) -> bytes:
        if not self.script:
            return b""
        step = self.script.pop(0)
        if isinstance(step, Exception):
            raise step
        if isinstance(step, asyncio.Event):
            await step.wait()
            return await self.read()
        return step

    @override
    def close(self) -> None:
        self.is_closed = True
        self.when_closed()


@dataclass
class ScriptedCarrier(CallCarrier):
    """Every call is answered with the same reply, unless `scripts` holds another one for it, or `refusal` is set."""

    scripts: list[list[bytes | Exception | asyncio.Event]] = field(default_factory=list)
    refusal: Exception | None = None
    calls: list[Call] = field(default_factory=list)
    sessions: list[AffinityKey | None] = field(default_factory=list)
    asks: list[Asks] = field(default_factory=list)
    carried: list[Carried] = field(default_factory=list)

    @property
    def body(self) -> dict[str, Any]:
        """The last one that was sent."""
        found: dict[str, Any] = json.loads(self.calls[-1].body)
        return found

    @override
    async def carry(self, call: Call, *, session: AffinityKey | None, asks: Asks) -> CarriedCall:
        self.calls.append(call)
        self.sessions.append(session)
        self.asks.append(asks)
        if self.refusal is not None:
            raise self.refusal
        script = self.scripts.pop(0) if self.scripts else usual(call)
        self.carried.append(Carried(script))
        return self.carried[-1]


def generation(call: Call) -> Generation:
    return Generation(f"chatcmpl-{call.request_id}", call.model, list(PIECES), "stop", PROMPT_TOKENS, 0)


def usual(call: Call) -> list[bytes | Exception | asyncio.Event]:
    told = generation(call)
    if not call.is_streamed:
        message = {"role": "assistant", "content": REPLY, "reasoning": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop", "token_ids": None}
        head = {"id": told.id, "object": "chat.completion", "created": 1, "model": call.model}
        return [json.dumps({**head, "choices": [choice], "usage": told.usage(), "prompt_token_ids": [1]}).encode()]
    usage = told.chunk(choices=[], usage=told.usage())
    return [told.role(), *map(told.text, told.pieces), told.finish("", "stop") + usage + DONE]
