"""Looks at one replica over HTTP: does it answer, is it the one meant, does it generate."""

import asyncio
import json
from collections.abc import Collection, Coroutine, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from http import HTTPStatus
from itertools import count
from time import perf_counter

import httpx
from typing_extensions import override

from router.adapters.request_names import request_name
from router.domain.engine_metrics import EngineMetrics, read_metrics
from router.domain.error_body import error_message
from router.domain.exchange import CallPath, Message
from router.domain.fitness import (
    NO_PROMPT_DETAILS,
    Expectation,
    cache_warning,
    count_misfit,
    expected_of,
    models_misfit,
    pools_misfit,
    version_misfit,
    version_warning,
    window_misfit,
)
from router.domain.fleet import ReplicaSpec
from router.domain.health import Observation
from router.domain.sighting import Late, Look, Sighting
from router.ports import Probe
from router.settings import EngineKind, RouterSettings

_PAGE_BYTES = 4 << 20
_IS_FULL = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
# A model without a chat template answers so to a chat, and may well complete.
_NO_CHAT = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED})


class _Misfit(Exception):
    """It answers, and must not serve."""


class _NotWell(Exception):
    """It answers, with an error of its own."""


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    content: bytes

    @property
    def json(self) -> object:
        try:
            body: object = json.loads(self.content)
        except (ValueError, RecursionError):
            return None
        return body

    @property
    def in_words(self) -> str:
        return f"HTTP {self.status}: {error_message(self.json)}"


class VllmProbe(Probe):
    """Without expectations any model will do; otherwise a replica must belong to one of their pools, and is judged by
    the expectation of each that it belongs to. Of engines other than vLLM only what the OpenAI API has is asked.

    The client should take no proxy from the environment. `api_key` is for engines that demand one.
    """

    def __init__(
        self,
        *,
        client: httpx.AsyncClient,
        expectations: Sequence[Expectation],
        settings: RouterSettings,
        api_key: str = "",
    ) -> None:
        self._client = client
        self._expectations = tuple(expectations)
        self._settings = settings
        self._key = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._is_vllm = settings.engine is EngineKind.VLLM
        self._canaries = count(1)

    @override
    async def look(self, spec: ReplicaSpec) -> Look:
        return await self._judged(self._look(spec))

    @override
    async def register(self, spec: ReplicaSpec) -> Look:
        return await self._judged(self._register(spec))

    @override
    async def try_out(self, spec: ReplicaSpec, models: Collection[str]) -> Look:
        began = perf_counter()
        expected = [each.model for each in expected_of(self._expectations, spec.models or models)]
        try:
            answer = await self._generate(spec, min(expected or models))
        except (TimeoutError, httpx.TimeoutException):
            return Late(f"no token for its canary within {self._settings.canary_timeout_s:g} s")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return Sighting(Observation.CANARY_FAILED, f"lost its canary ({_named(error)})")
        if answer.status in _IS_FULL:
            return Late(f"refuses its canary with {answer.in_words}")
        if answer.status != HTTPStatus.OK or not _has_choice(answer.json):
            return Sighting(Observation.CANARY_FAILED, f"answers its canary with {answer.in_words}")
        lacks_details = self._is_vllm and not _has_prompt_details(answer.json)
        return Sighting(
            Observation.CANARY_PASSED,
            warnings=(NO_PROMPT_DETAILS,) if lacks_details else (),
            took_ms=1000 * (perf_counter() - began),
        )

    async def _judged(self, looking: Coroutine[object, object, Sighting]) -> Look:
        try:
            return await looking
        except (TimeoutError, httpx.TimeoutException):
            return Late(f"no answer within {self._settings.probe_timeout_s:g} s")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return Sighting(Observation.PROBE_FAILED, f"cannot be reached ({_named(error)})")
        except _NotWell as error:
            return Sighting(Observation.PROBE_FAILED, str(error))
        except _Misfit as error:
            return Sighting(Observation.REFUSED, str(error))

    async def _look(self, spec: ReplicaSpec) -> Sighting:
        await self._ask(spec, "/health", is_last=not self._is_vllm)
        metrics = await self._metrics(spec) if self._is_vllm else None
        return Sighting(Observation.PROBE_PASSED, metrics=metrics)

    async def _metrics(self, spec: ReplicaSpec) -> EngineMetrics:
        """All unknown where there is no such page: what was told before is no longer true."""
        page = await self._metrics_page(spec)
        return read_metrics(page.content.decode(errors="replace")) if page.status == HTTPStatus.OK else EngineMetrics()

    async def _metrics_page(self, spec: ReplicaSpec) -> _Answer:
        """Whatever its status: a server whose page is broken may well serve."""
        async with asyncio.timeout(self._settings.probe_timeout_s):
            return await self._send(spec, "/metrics")

    async def _register(self, spec: ReplicaSpec) -> Sighting:
        listed = await self._windows(spec)
        models = spec.models or frozenset(listed)
        expected = expected_of(self._expectations, models)
        if self._expectations and not expected:
            raise _Misfit(pools_misfit(self._expectations, models))
        _refuse(models_misfit(spec.models, listed.keys()))
        for each in expected:
            _refuse(window_misfit(each, listed, must_tell=self._is_vllm))
        seen = Sighting(Observation.ACCEPTED, models=models, window_tokens=_largest(listed.values()))
        if not self._is_vllm:
            return seen
        for each in expected:
            await self._compare_counts(spec, each)
        return replace(seen, warnings=await self._warnings(spec))

    async def _windows(self, spec: ReplicaSpec) -> Mapping[str, int | None]:
        models = await self._ask(spec, "/v1/models")
        if models.status != HTTPStatus.OK:
            raise _Misfit(f"answers /v1/models with {models.in_words}")
        return _windows(models.json)

    async def _compare_counts(self, spec: ReplicaSpec, expected: Expectation) -> None:
        for sample in expected.samples:
            answer = await self._ask(spec, "/tokenize", _conversation(expected, sample.messages))
            body = answer.json
            counted = body.get("count") if isinstance(body, dict) else None
            if not isinstance(counted, int):
                raise _Misfit(f"answers /tokenize with {answer.in_words}")
            _refuse(count_misfit(sample, counted))

    async def _warnings(self, spec: ReplicaSpec) -> tuple[str, ...]:
        body = (await self._ask(spec, "/version")).json
        told = body.get("version") if isinstance(body, dict) else None
        version = told if isinstance(told, str) else None
        _refuse(version_misfit(version))
        page = await self._metrics_page(spec)
        warnings = (version_warning(version), _metrics_warning(page))
        return tuple(warning for warning in warnings if warning is not None)

    async def _generate(self, spec: ReplicaSpec, model: str) -> _Answer:
        """One token, from a chat or else from a completion; the time-out is that of both."""
        wanted: Mapping[str, object] = {"model": model, "max_tokens": 1, "temperature": 0}
        name = f"canary-{next(self._canaries)}"
        async with asyncio.timeout(self._settings.canary_timeout_s):
            chat = {**wanted, "messages": [{"role": "user", "content": "Hello"}]}
            answer = await self._send(spec, CallPath.CHAT, chat, name=name)
            if answer.status in _NO_CHAT:
                completion = await self._send(spec, CallPath.COMPLETIONS, {**wanted, "prompt": "Hello"}, name=name)
                answer = completion if completion.status == HTTPStatus.OK else answer
        return answer

    async def _ask(
        self, spec: ReplicaSpec, path: str, content: Mapping[str, object] | None = None, *, is_last: bool = True
    ) -> _Answer:
        async with asyncio.timeout(self._settings.probe_timeout_s):
            answer = await self._send(spec, path, content, is_last=is_last)
        if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise _NotWell(f"answers HTTP {answer.status} to {path}")
        return answer

    async def _send(
        self,
        spec: ReplicaSpec,
        path: str,
        content: Mapping[str, object] | None = None,
        *,
        name: str = "",
        is_last: bool = True,
    ) -> _Answer:
        """`is_last`: nothing follows at once. A connection kept longer may be lost just as it is used again, which
        would look like a lost replica.
        """
        headers = self._key | {"Accept-Encoding": "identity"} | ({"Connection": "close"} if is_last else {})
        try:
            request = self._client.build_request(
                "GET" if content is None else "POST",
                spec.url.rstrip("/") + path,
                json=content,
                headers=headers | dict(request_name(name, self._settings.engine)) if name else headers,
                timeout=None,
            )
            response = await self._client.send(request, stream=True)
        except UnicodeError as error:
            raise httpx.InvalidURL(f"no host name: {error}") from error
        async with aclosing(response):
            return _Answer(response.status_code, await _bounded(response))


async def _bounded(response: httpx.Response) -> bytes:
    """The beginning of a page that has no end. Packed it could be a thousand times as long as it looks."""
    content = bytearray()
    async for chunk in response.aiter_raw():
        content += chunk
        if len(content) >= _PAGE_BYTES:
            break
    return bytes(content)


def _largest(windows: Iterable[int | None]) -> int | None:
    """None if any is not known."""
    told = list(windows)
    return max((each for each in told if each is not None), default=None) if None not in told else None


def _refuse(misfit: str | None) -> None:
    if misfit is not None:
        raise _Misfit(misfit)


def _metrics_warning(page: _Answer) -> str | None:
    if page.status != HTTPStatus.OK:
        return f"answers HTTP {page.status} to /metrics: what others run there, and whether it is busy, is not known"
    return cache_warning(read_metrics(page.content.decode(errors="replace")))


def _windows(body: object) -> dict[str, int | None]:
    models = body.get("data") if isinstance(body, dict) else None
    windows: dict[str, int | None] = {}
    for model in models if isinstance(models, list) else []:
        name = model.get("id") if isinstance(model, dict) else None
        if isinstance(model, dict) and isinstance(name, str) and name.isprintable():
            window = model.get("max_model_len")
            windows[name] = window if isinstance(window, int) and window > 0 else None
    return windows


def _has_choice(body: object) -> bool:
    choices = body.get("choices") if isinstance(body, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return isinstance(first, dict) and isinstance(first.get("finish_reason"), str)


def _has_prompt_details(body: object) -> bool:
    usage = body.get("usage") if isinstance(body, dict) else None
    return isinstance(usage, dict) and isinstance(usage.get("prompt_tokens_details"), dict)


def _conversation(expected: Expectation, messages: Sequence[Message]) -> dict[str, object]:
    arguments = {"chat_template_kwargs": dict(expected.template_arguments)} if expected.template_arguments else {}
    return {
        "model": expected.model,
        "messages": [{"role": message.role, "content": message.content} for message in messages],
        **arguments,
    }


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
