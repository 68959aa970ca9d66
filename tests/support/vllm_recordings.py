"""Recorded exchanges with real vLLM: read from their transcripts, sent again, and compared field by field."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx

_ELIDED = re.compile(r"\.\.\.\[(\d+) bytes\]\.\.\.")
_HEADER = re.compile(r"[A-Za-z-]+: ")
_ARRIVAL = re.compile(r"^\[\+ *[\d.]+s\] ")
FREE_HEADERS = frozenset({"date", "content-length", "connection", "transfer-encoding", "keep-alive", "location"})

# Differ from answer to answer on one and the same server.
VOLATILE = frozenset({"id", "created", "system_fingerprint", "root", "logprob", "bytes", "token_logprobs"})
# Depend on what was asked before.
HISTORY = frozenset({"cached_tokens", "created_cache_tokens"})
# Follow from a model's own words.
WORDS = frozenset({"content", "text", "token", "decoded_token", "tokens", "top_logprobs", "rank"})
REPLY_COUNTS = frozenset({"completion_tokens", "total_tokens", "token_ids"})
COUNTS = frozenset(
    {"prompt_tokens", "total_tokens", "completion_tokens", "prompt_token_ids", "token_ids", "count", "token_strs"}
)


@dataclass(frozen=True, slots=True)
class Exchange:
    name: str
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes | None
    status: int
    answer_headers: Mapping[str, str]
    answer: str
    """The body, or a stream's events, one a line."""

    @property
    def is_stream(self) -> bool:
        return self.answer_headers.get("content-type", "").startswith("text/event-stream")


def recordings(folder: Path) -> list[Exchange]:
    return [_read(path) for path in sorted(folder.glob("*.txt"))]


def send(client: httpx.Client, exchange: Exchange) -> httpx.Response:
    """With exactly the headers that were recorded: some cases are about one that is missing."""
    request = client.build_request(exchange.method, exchange.path, content=exchange.body)
    for name in ("content-type", "accept", "user-agent"):
        request.headers.pop(name, None)
    request.headers.update(exchange.headers)
    return client.send(request)


def documents(exchange: Exchange, text: str) -> dict[str, object]:
    """A body is one document; of a stream the first of each kind of chunk: role, text, finish, usage, end."""
    if not exchange.is_stream:
        return {"body": json.loads(text) if text else ""}
    told = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    kinds: dict[str, object] = {}
    for each in told:
        document = "[DONE]" if each == "[DONE]" else json.loads(each)
        kinds.setdefault(_kind(document), document)
    return kinds


def differences(recorded: object, given: object, *, free: frozenset[str], where: str = "") -> Iterator[str]:
    """Where two documents differ: keys, their order, types, and values except those of the keys in `free`."""
    if isinstance(recorded, dict) and isinstance(given, dict):
        yield from _in_fields(recorded, given, free, where)
    elif isinstance(recorded, list) and isinstance(given, list):
        yield from _in_items(recorded, given, free, where)
    elif recorded != given or type(recorded) is not type(given):
        yield f"{where}: {recorded!r} became {given!r}"


def _in_fields(
    recorded: Mapping[str, object], given: Mapping[str, object], free: frozenset[str], where: str
) -> Iterator[str]:
    if list(recorded) != list(given):
        yield f"{where}: keys {list(recorded)} became {list(given)}"
        return
    for key, value in recorded.items():
        if key in free:
            yield from _type_differences(value, given[key], where=f"{where}.{key}")
        else:
            yield from differences(value, given[key], free=free, where=f"{where}.{key}")


def _in_items(recorded: Sequence[object], given: Sequence[object], free: frozenset[str], where: str) -> Iterator[str]:
    if len(recorded) != len(given):
        yield f"{where}: {len(recorded)} items became {len(given)}"
        return
    for place, (one, other) in enumerate(zip(recorded, given, strict=True)):
        yield from differences(one, other, free=free, where=f"{where}[{place}]")


def _type_differences(recorded: object, given: object, *, where: str) -> Iterator[str]:
    if type(recorded) is not type(given):
        yield f"{where}: {recorded!r} became {given!r}"


def _kind(document: object) -> str:
    if not isinstance(document, dict):
        return "end"
    if "error" in document:
        return "error"
    if not document["choices"]:
        return "usage"
    choice = document["choices"][0]
    if choice["finish_reason"] is not None:
        return "finish"
    return "role" if "role" in choice.get("delta", ()) else "text"


def _read(path: Path) -> Exchange:
    lines = path.read_text("utf-8").splitlines()
    asked = [line[2:] for line in lines if line.startswith("> ")]
    told = [line[2:] for line in lines if line.startswith("< ")]
    method, target = asked[0].split(" ")
    fields = dict(line.split(": ", 1) for line in asked[1:] if _HEADER.match(line))
    body = next((line for line in asked[1:] if not _HEADER.match(line)), None)
    begin, end = lines.index("<"), next(n for n, line in enumerate(lines) if line.startswith("# total"))
    answer = [_ARRIVAL.sub("", line) for line in lines[begin + 1 : end]]
    return Exchange(
        name=path.stem,
        method=method,
        path=target,
        headers=fields,
        body=None if body is None else _whole(body).encode(),
        status=int(told[0].split(" ")[1]),
        answer_headers=dict(line.split(": ", 1) for line in told[1:]),
        answer="\n".join(answer).strip(),
    )


def _whole(body: str) -> str:
    """Long prompts repeat one word, and were recorded with their middle left out."""
    found = _ELIDED.search(body)
    if found is None:
        return body
    head, tail = body[: body.index("word")], body[body.rindex("word") + len("word") :]
    words = (int(found[1]) - len(head) - len(tail) + 1) // len("word ")
    return head + " ".join(["word"] * words) + tail
