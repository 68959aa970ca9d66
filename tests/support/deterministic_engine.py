"""vLLM as a function: the wire bytes of its answer to a call, with one reply in mind, which it goes on with from
wherever the call's prompt stands.

Tokens are pieces of bytes, so that a character may be cut between two of them; what a call has said already is found in
the reply byte by byte. Text that ends in U+FFFD, as that of half a character does, is held back; and a prompt that ends
so comes out again as a whole, with the character that its last tokens have begun. It shares no code with what it tests.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from router.domain.exchange import Call, CallPath

PROMPT_IDS = (1, 9690, 198, 2683)
PROMPT_TEXT = "The way is"
EOS = 2
UNREADABLE = "\ufffd"
_FIRST_ID = 1000


@dataclass(frozen=True, slots=True)
class Said:
    """One step of an answer."""

    text: str
    ids: Sequence[int]
    reason: str | None = None
    stop_reason: str | None = None


@dataclass(slots=True)
class DeterministicEngine:
    """`pieces` are the tokens of its reply. `tells_ids`: as vLLM does when asked; `per_event`: tokens in one event;
    `can_say`: whether it is asked what tokens mean.
    """

    pieces: Sequence[bytes]
    tells_ids: bool = True
    per_event: int = 1
    can_say: bool = False
    calls: list[Call] = field(default_factory=list)
    _vocabulary: dict[bytes, int] = field(default_factory=dict)

    @property
    def reply(self) -> bytes:
        return b"".join(self.pieces)

    def words(self, ids: Sequence[object]) -> list[bytes]:
        """The tokens that these are."""
        known: dict[object, bytes] = {number: piece for piece, number in self._vocabulary.items()}
        return [known.get(number, b"") for number in ids]

    def text_of(self, ids: Sequence[int]) -> str:
        return b"".join(self.words(ids)).decode("utf-8", "replace")

    def answer(self, call: Call) -> bytes:
        self.calls.append(call)
        body = json.loads(call.body)
        assert body["stream"] is True
        head = self._head(call, body)
        prompt = [*PROMPT_IDS, *(self._id(piece) for piece in self._cut(0, head))]
        if call.path is CallPath.COMPLETIONS and isinstance(body["prompt"], list):
            prompt = body["prompt"]
        return _Wire(body, call.path, prompt, tells_ids=self.tells_ids, number=len(self.calls)).stream(
            list(self._said(body, head))
        )

    def _head(self, call: Call, body: Mapping[str, object]) -> int:
        """How many bytes of the reply the prompt holds."""
        if call.path is CallPath.COMPLETIONS:
            prompt = body["prompt"]
            if isinstance(prompt, str):
                return self._found(prompt.removeprefix(PROMPT_TEXT))
            assert isinstance(prompt, list)
            assert tuple(prompt[: len(PROMPT_IDS)]) == PROMPT_IDS
            words = {number: piece for piece, number in self._vocabulary.items()}
            told = b"".join(words[number] for number in prompt[len(PROMPT_IDS) :])
            assert self.reply.startswith(told)
            return len(told)
        messages = body["messages"]
        assert isinstance(messages, list)
        if not body.get("continue_final_message"):
            return 0
        assert body["add_generation_prompt"] is False
        assert messages[-1]["role"] == "assistant"
        return self._found(messages[-1]["content"])

    def _found(self, told: str) -> int:
        assert self.reply.startswith(told.encode()), f"{told!r} is not the head of the reply"
        return len(told.encode())

    def _cut(self, begin: int, end: int) -> Iterator[bytes]:
        """The tokens between two places; one that a place cuts becomes another token."""
        at = 0
        for piece in self.pieces:
            part = piece[max(0, begin - at) : max(0, end - at)]
            if part:
                yield part
            at += len(piece)

    def _id(self, piece: bytes) -> int:
        return self._vocabulary.setdefault(piece, _FIRST_ID + len(self._vocabulary))

    def _said(self, body: Mapping[str, object], head: int) -> Iterator[Said]:
        stop = body.get("stop") or []
        stops = [stop] if isinstance(stop, str) else list(stop) if isinstance(stop, list) else []
        told_itself = bool(body.get("include_stop_str_in_output"))
        held = 0 if told_itself else max((len(each) - 1 for each in stops), default=0)
        most = body.get("max_completion_tokens") or body.get("max_tokens") or 10_000
        assert isinstance(most, int)
        least = body.get("min_tokens", 0)
        assert isinstance(least, int)
        assert least <= most
        held_back = self._told_again(head)
        text, sent = "", 0
        ids: list[int] = []
        tokens = [*self._cut(head, len(self.reply)), None]
        for count, piece in enumerate(tokens, 1):
            held_back += piece or b""
            new, held_back = _readable(held_back)
            text, ids = text + new, [*ids, EOS if piece is None else self._id(piece)]
            found = _stop_in(text, len(new), stops)
            if found:
                place = text.index(found, max(0, len(text) - len(new) - len(found) + 1))
                end = place + len(found) if told_itself else place
                yield Said(text[sent:end], ids, "stop", found)
                return
            if piece is None or count == most:
                yield Said(text[sent:], ids, "stop" if piece is None else "length")
                return
            if count > 1 and count % self.per_event:
                continue
            upto = max(sent, len(text) - held)
            yield Said(text[sent:upto], ids)
            sent, ids = upto, []

    def _told_again(self, head: int) -> bytes:
        """The prompt, where its end cannot be read."""
        told = self.reply[:head]
        return PROMPT_TEXT.encode() + told if told.decode("utf-8", "replace").endswith(UNREADABLE) else b""


def _readable(raw: bytes) -> tuple[str, bytes]:
    """What can be said of it, and what is held back."""
    text = raw.decode("utf-8", "replace")
    return ("", raw) if text.endswith(UNREADABLE) else (text, b"")


def _stop_in(text: str, new: int, stops: Sequence[str]) -> str | None:
    for stop in stops:
        if new and stop in text[max(0, len(text) - new - len(stop) + 1) :]:
            return stop
    return None


@dataclass(frozen=True, slots=True)
class _Wire:
    body: Mapping[str, object]
    path: CallPath
    prompt: Sequence[int]
    tells_ids: bool
    number: int

    def stream(self, said: Sequence[Said]) -> bytes:
        count, events = 0, [self._role()] if self.path is CallPath.CHAT else []
        for place, step in enumerate(said):
            count += len(step.ids)
            events.append(self._event([self._choice(step, is_first=place == 0)], self._running(count)))
        if self._option("include_usage"):
            details = {"prompt_tokens_details": {"cached_tokens": len(self.prompt)}}
            events.append(self._event([], {"usage": self._usage(count) | details, "system_fingerprint": "fp"}))
        return b"".join(events) + b"data: [DONE]\n\n"

    @property
    def _ids(self) -> bool:
        return self.tells_ids and bool(self.body.get("return_token_ids"))

    def _option(self, name: str) -> bool:
        options = self.body.get("stream_options")
        return isinstance(options, dict) and bool(options.get(name))

    def _usage(self, count: int) -> dict[str, object]:
        prompt = len(self.prompt)
        return {"prompt_tokens": prompt, "total_tokens": prompt + count, "completion_tokens": count}

    def _running(self, count: int) -> dict[str, object]:
        return {"usage": self._usage(count)} if self._option("continuous_usage_stats") else {}

    def _role(self) -> bytes:
        choice = {
            "index": 0,
            "delta": {"role": "assistant", "content": ""},
            "logprobs": None,
            "finish_reason": None,
        }
        prompt = {"prompt_token_ids": self.prompt if self._ids else None, "prompt_text": None}
        return self._event([choice], self._running(0) | prompt)

    def _choice(self, step: Said, *, is_first: bool) -> Mapping[str, object]:
        stop = {"stop_reason": step.stop_reason}
        ids = {"token_ids": step.ids if self._ids else None}
        if self.path is CallPath.COMPLETIONS:
            prompt = {"prompt_token_ids": self.prompt if self._ids and is_first else None}
            text = {"index": 0, "text": step.text, "logprobs": None, "finish_reason": step.reason}
            return {**text, **stop, **prompt, **ids}
        delta = {"index": 0, "delta": {"content": step.text}, "logprobs": None, "finish_reason": step.reason}
        return {**delta, **(stop if step.reason else {}), **ids}

    def _event(self, choices: Sequence[Mapping[str, object]], rest: Mapping[str, object]) -> bytes:
        is_chat = self.path is CallPath.CHAT
        head = {
            "id": f"{'chatcmpl' if is_chat else 'cmpl'}-{self.number}",
            "object": "chat.completion.chunk" if is_chat else "text_completion",
            "created": 1_795_950_000 + self.number,
            "model": "m",
        }
        document = {**head, "choices": choices, **rest}
        return b"data: " + json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() + b"\n\n"
