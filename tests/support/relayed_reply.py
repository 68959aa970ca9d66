"""Drives a relay against a deterministic engine that is lost again and again, and reads what the caller got."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from router.domain.exchange import Call, CallPath
from router.domain.relay import Relay
from router.domain.resume import AskAgain, Complete, Continue, Stuck
from router.errors import StreamBroken
from tests.support.deterministic_engine import PROMPT_TEXT, DeterministicEngine


def chat(**fields: object) -> Call:
    body = {"model": "m", "messages": [{"role": "user", "content": "Wie geht's? 好"}], "stream": True, **fields}
    return Call(CallPath.CHAT, json.dumps(body).encode(), "m", is_streamed=True, request_id="r-1")


def completion(**fields: object) -> Call:
    body = {"model": "m", "prompt": PROMPT_TEXT, "stream": True, "max_tokens": 5000, **fields}
    return Call(CallPath.COMPLETIONS, json.dumps(body).encode(), "m", is_streamed=True, request_id="r-1")


@dataclass(slots=True)
class Reply:
    """What a caller makes of the bytes."""

    pieces: list[bytes] = field(default_factory=list)
    stuck: str = ""
    continued: int = 0

    @property
    def documents(self) -> list[dict[str, object]]:
        return [json.loads(data) for data in self._data() if data != "[DONE]"]

    @property
    def choices(self) -> list[dict[str, object]]:
        return [choice for each in self.documents for choice in _list(each["choices"])]

    @property
    def text(self) -> str:
        deltas = [_dict(choice["delta"])["content"] if "delta" in choice else choice["text"] for choice in self.choices]
        return "".join(str(delta) for delta in deltas)

    @property
    def ids(self) -> list[object]:
        told = [choice.get("token_ids") for choice in self.choices]
        return [number for ids in told if isinstance(ids, list) for number in ids]

    @property
    def roles(self) -> list[object]:
        return [_dict(choice["delta"])["role"] for choice in self.choices if "role" in _dict(choice.get("delta", {}))]

    @property
    def finish(self) -> list[object]:
        reasons = [(choice["finish_reason"], choice.get("stop_reason")) for choice in self.choices]
        return [reason for reason in reasons if reason[0] is not None]

    @property
    def usage(self) -> list[dict[str, object]]:
        """Without what came from the cache: that depends on what the replica did before."""
        told = [_dict(each["usage"]) for each in self.documents if not each["choices"]]
        return [{name: usage[name] for name in usage if name.endswith("_tokens")} for usage in told]

    @property
    def dones(self) -> int:
        return list(self._data()).count("[DONE]")

    @property
    def comments(self) -> list[str]:
        return [block for block in self._blocks() if block.startswith(":")]

    @property
    def heads(self) -> set[tuple[object, ...]]:
        return {(each["id"], each["object"], each["created"], each["model"]) for each in self.documents}

    def _blocks(self) -> Iterator[str]:
        assert all(piece.endswith(b"\n\n") for piece in self.pieces)
        yield from b"".join(self.pieces).decode().split("\n\n")[:-1]

    def _data(self) -> Iterator[str]:
        for block in self._blocks():
            if not block.startswith(":"):
                assert block.startswith("data: ")
                yield block.removeprefix("data: ")


def undisturbed(engine: DeterministicEngine, call: Call, *, token_ids: bool = True) -> Reply:
    return relayed(engine, call, cuts=[], token_ids=token_ids)


def relayed(
    engine: DeterministicEngine,
    call: Call,
    *,
    cuts: Sequence[float],
    token_ids: bool = True,
    grain: int = 1 << 20,
    window_tokens: int | None = None,
) -> Reply:
    """The replica is lost after each of these shares of its answer; bytes come in pieces of `grain`."""
    relay = Relay(call, token_ids=token_ids, window_tokens=window_tokens)
    reply = Reply()
    for number, cut in enumerate([*cuts, 1.0]):
        answer = engine.answer(relay.call)
        if _feed(relay, reply, answer[: round(cut * len(answer))], grain) and cut == 1.0:
            _told(reply, relay.end())
        reply.continued = relay.continued
        if relay.is_complete:
            return reply
        _settle(relay, engine)
        match relay.resume(replica=f"replica-{number}"):
            case Complete(data):
                _told(reply, data)
                return reply
            case Stuck(why):
                reply.stuck = why
                return reply
            case AskAgain(again):
                assert not reply.pieces
                assert again == relay.call
            case Continue(again):
                assert again == relay.call
    raise AssertionError("the last answer was whole and the reply is not")


def _settle(relay: Relay, engine: DeterministicEngine) -> None:
    doubt = relay.doubt()
    if doubt is not None and engine.can_say:
        fitting = [each for each in doubt.candidates if doubt.is_settled_by(engine.text_of(doubt.ids[:each]))]
        if fitting:
            relay.settle(fitting[0])


def _feed(relay: Relay, reply: Reply, data: bytes, grain: int) -> bool:
    """Whether the answer was one."""
    try:
        for at in range(0, len(data), grain):
            _told(reply, relay.feed(data[at : at + grain]))
    except StreamBroken:
        return False
    return True


def _told(reply: Reply, data: bytes) -> None:
    if data:
        reply.pieces.append(data)


def _dict(value: object) -> dict[str, object]:
    assert isinstance(value, dict)
    return value


def _list(value: object) -> list[dict[str, object]]:
    assert isinstance(value, list)
    return value
