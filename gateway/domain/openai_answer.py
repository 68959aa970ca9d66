"""What an engine answers to a chat completion, read; and what of it is told: the members that OpenAI's API has.

The engine's own (token ids, transfer parameters, what was written into the prompt) stay inside.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gateway.domain.limits import Spent
from router.domain.chunk import read_chunk
from router.domain.sse import DONE, event_data
from router.errors import StreamBroken

Document = Mapping[str, object]

_DOCUMENT = ("id", "object", "created", "model", "system_fingerprint")
_USAGE = ("prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details", "completion_tokens_details")

END = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Answer:
    """An event of a stream, or an answer that is none."""

    head: Document
    """What every chunk of it begins with."""
    choices: tuple[Document, ...]
    usage: Document | None
    spent: Spent | None
    """None: the engine has not told it yet."""


def read_event(block: bytes) -> Answer | None:
    """None where the event says nothing; raises `StreamBroken`."""
    data = event_data(block)
    return None if data is None or data == DONE else _answer(data)


def is_done(block: bytes) -> bool:
    return event_data(block) == DONE


def read_whole(body: bytes) -> Answer:
    """Raises `StreamBroken` for what is no answer."""
    answer = _answer(body)
    if not answer.choices:
        raise StreamBroken("the answer has no choices")
    return answer


def index_of(choice: Document) -> int:
    index = choice.get("index")
    return index if isinstance(index, int) else 0


def told_choice(choice: Document, changes: Document) -> dict[str, object]:
    """With what is to be told otherwise, above all its `delta` or `message`."""
    return {**_kept(choice, ("index", "finish_reason", "logprobs")), **changes}


def told_event(head: Document, choices: Sequence[Document], *, wants_usage: bool) -> bytes:
    return _event({**head, "choices": choices, "usage": None} if wants_usage else {**head, "choices": choices})


def told_usage(head: Document, usage: Document) -> bytes:
    """The event of its own in which a stream tells it."""
    return _event({**head, "choices": [], "usage": usage})


def told_whole(answer: Answer, choices: Sequence[Document]) -> bytes:
    return _written({**answer.head, "choices": choices, "usage": answer.usage})


def usage_of(spent: Spent) -> Document:
    prompt, completion = spent.input_tokens, spent.output_tokens
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _answer(data: bytes) -> Answer:
    document = read_chunk(data).document
    usage, choices = document.get("usage"), document.get("choices")
    return Answer(
        head=_kept(document, _DOCUMENT),
        choices=tuple(each for each in choices if isinstance(each, dict)) if isinstance(choices, list) else (),
        usage=None if usage is None else _kept(_object(usage), _USAGE),
        spent=None if usage is None else _spent(_object(usage)),
    )


def _spent(counts: Document) -> Spent:
    prompt, completion = counts.get("prompt_tokens"), counts.get("completion_tokens")
    if not isinstance(prompt, int) or not isinstance(completion, int):
        raise StreamBroken("the usage has no such count")
    return Spent(prompt, completion)


def _kept(document: Document, names: Sequence[str]) -> dict[str, object]:
    return {name: document[name] for name in names if name in document}


def _object(value: object) -> Document:
    return value if isinstance(value, dict) else {}


def _event(document: Document) -> bytes:
    return b"data: " + _written(document) + b"\n\n"


def _written(document: Document) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
