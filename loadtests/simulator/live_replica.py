"""Asks a live server, simulated or real, for what a calibration needs: its shape, and turns with their times."""

import re
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

import httpx
from pydantic import BaseModel, Field, ValidationError

from loadtests.simulator.errors import SimulatorError

_CACHE = re.compile(r"^vllm:cache_config_info\{(?P<labels>[^}]*)\}", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')
_DATA = b"data: "

Message = dict[str, str]


class NotMeasurable(SimulatorError):
    """The server does not answer as a calibration needs it; says what is missing."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What the server says of itself."""

    model: str
    window_tokens: int
    block_tokens: int | None
    blocks: int | None


@dataclass(frozen=True, slots=True)
class Heard:
    """One streamed turn. `moments` are seconds since it was sent, one per chunk that brought tokens, with the tokens
    said until then."""

    text: str
    prompt_tokens: int
    cached_tokens: int | None
    """None where the server does not tell."""
    moments: tuple[tuple[float, int], ...]


class _Details(BaseModel):
    cached_tokens: int | None = None


class _Usage(BaseModel):
    prompt_tokens: int
    completion_tokens: int
    prompt_tokens_details: _Details | None = None


class _Delta(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    delta: _Delta


class _Chunk(BaseModel):
    choices: list[_Choice] = []
    usage: _Usage | None = None
    error: object = None


class _Card(BaseModel):
    id: str
    max_model_len: int


class _Cards(BaseModel):
    data: list[_Card] = Field(min_length=1)


class LiveReplica:
    def __init__(self, client: httpx.AsyncClient, *, clock: Callable[[], float], api_key: str | None = None) -> None:
        self._client = client
        self._clock = clock
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}

    async def shape(self) -> Shape:
        models = await self._get("/v1/models")
        labels = _cache_labels((await self._get("/metrics")).text)
        try:
            card = _Cards.model_validate_json(models.content).data[0]
        except ValidationError as error:
            raise NotMeasurable("/v1/models names no model with a max_model_len") from error
        return Shape(
            model=card.id,
            window_tokens=card.max_model_len,
            block_tokens=_whole(labels.get("block_size")),
            blocks=_whole(labels.get("num_gpu_blocks")),
        )

    async def turn(self, model: str, messages: Sequence[Message], *, tokens: int) -> Heard:
        """Exactly so many tokens, greedily. The times are stamped before anything is read from the chunks."""
        body = {
            "model": model,
            "messages": list(messages),
            "stream": True,
            "stream_options": {"include_usage": True, "continuous_usage_stats": True},
            "temperature": 0,
            "max_tokens": tokens,
            "min_tokens": tokens,
            "ignore_eos": True,
        }
        sent = self._clock()
        try:
            async with self._client.stream("POST", "/v1/chat/completions", json=body, headers=self._headers) as answer:
                if answer.status_code != httpx.codes.OK:
                    raise NotMeasurable(f"/v1/chat/completions answers {answer.status_code}")
                return _heard([(self._clock() - sent, event) async for event in _events(answer)])
        except httpx.HTTPError as error:
            raise NotMeasurable(f"the server cannot be heard: {type(error).__name__}") from error

    async def _get(self, path: str) -> httpx.Response:
        try:
            answer = await self._client.get(path, headers=self._headers)
        except httpx.HTTPError as error:
            raise NotMeasurable(f"{path} cannot be reached: {type(error).__name__}") from error
        if answer.status_code != httpx.codes.OK:
            raise NotMeasurable(f"{path} answers {answer.status_code}")
        return answer


async def _events(answer: httpx.Response) -> AsyncIterator[bytes]:
    """Not by lines: those of the client also end where a model wrote U+2028."""
    held = b""
    async for piece in answer.aiter_bytes():
        *whole, held = (held + piece).split(b"\n\n")
        for event in whole:
            if event.startswith(_DATA):
                yield event.removeprefix(_DATA)


def _heard(events: Sequence[tuple[float, bytes]]) -> Heard:
    chunks = [(moment, _chunk(data)) for moment, data in events if data != b"[DONE]"]
    usages = [chunk.usage for _, chunk in chunks if chunk.usage is not None]
    moments: list[tuple[float, int]] = []
    for moment, chunk in chunks:
        # The role chunk counts no token yet, and an end without text none any more.
        said = chunk.usage.completion_tokens if chunk.choices and chunk.usage is not None else 0
        if said > (moments[-1][1] if moments else 0):
            moments.append((moment, said))
    if not moments:
        raise NotMeasurable("the stream counts no tokens, as continuous_usage_stats would")
    details = usages[-1].prompt_tokens_details
    return Heard(
        text="".join(choice.delta.content or "" for _, chunk in chunks for choice in chunk.choices),
        prompt_tokens=usages[-1].prompt_tokens,
        cached_tokens=details.cached_tokens or 0 if details else None,
        moments=tuple(moments),
    )


def _chunk(data: bytes) -> _Chunk:
    try:
        chunk = _Chunk.model_validate_json(data)
    except ValidationError as error:
        raise NotMeasurable("the stream is not one of chat completion chunks") from error
    if chunk.error is not None:
        raise NotMeasurable("the stream ended with an error")
    return chunk


def _cache_labels(metrics: str) -> dict[str, str]:
    found = _CACHE.search(metrics)
    return dict(_LABEL.findall(found["labels"])) if found else {}


def _whole(label: str | None) -> int | None:
    return int(label) if label is not None and label.isdigit() else None
