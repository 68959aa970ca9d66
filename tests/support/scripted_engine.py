"""A server that speaks vLLM's wire and answers by a script; it breaks on demand, and remembers what it was asked.

`python -m tests.support.scripted_engine --port P`. By default the reply is a function of the messages. `POST /script`
changes what is named in its JSON body (the fields of `Script`), `DELETE /script` goes back to the defaults,
`GET /requests` lists the chat requests since `DELETE /requests`.
"""

import argparse
import asyncio
import json
import os
import threading
import time
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.support.scripted_tokens import PrefixCache, RealTokens, Vocabulary, Words
from tests.support.vllm_wire import DONE, ENGINE_DIED, Generation, error_answer, event


class CutConnection(Exception):
    """Raised inside an answer, upon which uvicorn drops the connection."""


@dataclass(frozen=True, slots=True)
class Script:
    """How the next requests are answered."""

    reply: str | None = None
    """None: derived from the messages. May be empty, or hold a NUL."""
    replies: list[tuple[str, str]] = field(default_factory=list)
    """(words in the last message, reply): the first that matches goes before `reply`."""
    tokens_per_chunk: int = 1
    first_delay_s: float = 0.0
    delay_s: float = 0.0
    """Before the first chunk, and before every other."""
    cut_bytes: int = 0
    """Write the stream in pieces of so many bytes, also inside characters; 0: one piece per event."""
    fault: str = ""
    """`refuse` (503), `die` (the process exits), `cut` (the socket closes), `error` (error object, then [DONE]),
    `stall` (silence), `abort` (finish reason abort), `no_finish` ([DONE] at once)."""
    after_chunks: int = 0
    """The fault comes after so many chunks of text."""
    times: int | None = None
    """The fault hits so many requests, then no more; None: all."""
    health_status: int = 200
    health_delay_s: float = 0.0


class Engine:
    """What the server knows: its model, its script, its memory."""

    def __init__(self, *, model: str, window_tokens: int, vocabulary: Vocabulary) -> None:
        self.model = model
        self.window_tokens = window_tokens
        self.vocabulary = vocabulary
        self.script = Script()
        self.cache = PrefixCache()
        self.requests: list[dict[str, Any]] = []
        self.running = 0
        self.served = 0

    def take_fault(self) -> str:
        """The fault for one request; counts it against `times`."""
        script = self.script
        if not script.fault or script.times == 0:
            return ""
        if script.times is not None:
            self.script = replace(script, times=script.times - 1)
        return script.fault

    def reply_to(self, messages: list[dict[str, str]]) -> str:
        last = messages[-1]["content"]
        for words, reply in self.script.replies:
            if words in last:
                return reply
        return default_reply(messages) if self.script.reply is None else self.script.reply


def default_reply(messages: list[dict[str, str]]) -> str:
    """Another one for every other conversation, and the same one for the same."""
    mark = sha256(json.dumps(messages, ensure_ascii=False).encode("utf-8", "replace")).hexdigest()[:8]
    turns = sum(message["role"] == "user" for message in messages)
    return f"Answer {turns} to «{messages[-1]['content'][:60].strip()}», 收到 ({mark})."


async def _events(engine: Engine, script: Script, generation: Generation, fault: str) -> AsyncIterator[bytes]:
    """The stream's events; an empty one asks the writer to wait for ever."""
    await asyncio.sleep(script.first_delay_s)
    step = max(script.tokens_per_chunk, 1)
    pieces = generation.pieces
    chunks = ["".join(pieces[start : start + step]) for start in range(0, len(pieces), step)]
    # Under "length" the last text rides in the finish chunk; under "stop" the finish chunk is empty.
    last = chunks.pop() if generation.reason == "length" and chunks else ""
    for number, text in enumerate(chunks):
        if fault and number == script.after_chunks:
            break
        if number == 0:
            yield generation.role()
        else:
            await asyncio.sleep(script.delay_s)
        yield generation.text(text)
    if fault:
        async for event in _break(generation, fault):
            yield event
        return
    yield generation.finish(last, generation.reason)
    usage = generation.usage()
    yield generation.chunk(choices=[], usage=usage, system_fingerprint="vllm-0.32.0-scripted")
    yield DONE
    engine.served += 1


async def _break(generation: Generation, fault: str) -> AsyncIterator[bytes]:
    if fault == "die":
        os._exit(1)
    if fault == "cut":
        raise CutConnection
    if fault == "stall":
        await asyncio.Event().wait()
    if fault == "error":
        yield event({"error": {"message": ENGINE_DIED, "type": "InternalServerError", "param": None, "code": 500}})
    if fault == "abort":
        yield generation.finish("", "abort")
    yield DONE


async def _written(engine: Engine, script: Script, events: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    engine.running += 1
    try:
        async for event in events:
            cut = script.cut_bytes or len(event)
            for start in range(0, len(event), cut):
                yield event[start : start + cut]
    finally:
        engine.running -= 1


def _refusal(engine: Engine, body: dict[str, Any]) -> JSONResponse | None:
    window = engine.window_tokens
    if body.get("model", engine.model) != engine.model:
        message = f"The model `{body['model']}` does not exist. Valid aliases: {engine.model}."
        return error_answer(404, message, kind="NotFoundError", param="model")
    if not body.get("messages"):
        return error_answer(400, "Cannot apply chat template to an empty conversation. Provide at least one message.")
    if body.get("cache_salt", "-") == "":
        return error_answer(400, "Parameter 'cache_salt' must be a non-empty string if provided.", param="cache_salt")
    if not 1 <= (wanted := body.get("max_tokens", 1)) <= window:
        return error_answer(
            400, f"max_tokens={wanted} cannot be greater than max_model_len={window}.", param="max_tokens"
        )
    if (count := len(engine.vocabulary.prompt(body["messages"]))) > window:
        message = f"This model's maximum context length is {window} tokens. However, your prompt contains at least"
        return error_answer(400, f"{message} {count} input tokens.", param="input_tokens")
    return None


def _generate(engine: Engine, body: dict[str, Any], request_id: str) -> Generation:
    messages, salt = body["messages"], body.get("cache_salt", "")
    prompt = engine.vocabulary.prompt(messages)
    reply = engine.reply_to(messages)
    pieces = engine.vocabulary.pieces(reply)
    # Prompt and reply over the window: the real engine cuts the reply silently.
    limit = min(body.get("max_tokens", engine.window_tokens), engine.window_tokens - len(prompt))
    cached = engine.cache.cached(salt, prompt)
    engine.cache.remember(salt, prompt)
    if len(pieces) <= limit:
        said = [*messages, {"role": "assistant", "content": reply}]
        engine.cache.remember(salt, engine.vocabulary.prompt(said, for_reply=False))
    return Generation(
        id=f"chatcmpl-{request_id}",
        model=engine.model,
        pieces=pieces[:limit],
        reason="stop" if len(pieces) <= limit else "length",
        prompt_tokens=len(prompt),
        cached_tokens=cached,
    )


class Endpoints:
    """The engine's routes."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def chat(self, request: Request) -> Response:
        engine, raw = self._engine, await request.body()
        try:
            body = json.loads(raw)
        except ValueError:
            return error_answer(
                400, "1 validation error:\n  {'type': 'json_invalid'}", kind="Bad Request", param="body"
            )
        recorded = {"messages": body.get("messages"), "cache_salt": body.get("cache_salt"), "body": raw.decode()}
        where = {"headers": dict(request.headers), "client_port": request.client.port if request.client else 0}
        engine.requests.append({**recorded, **where})
        fault = engine.take_fault()
        if fault == "refuse":
            return error_answer(503, "The server is overloaded.", kind="Service Unavailable")
        if (refusal := _refusal(engine, body)) is not None:
            return refusal
        generation = _generate(engine, body, request.headers.get("x-request-id", sha256(raw).hexdigest()[:16]))
        if not body.get("stream"):
            message = {"role": "assistant", "content": "".join(generation.pieces)}
            choice = {"index": 0, "message": message, "finish_reason": generation.reason}
            return JSONResponse({"id": generation.id, "choices": [choice], "usage": generation.usage()})
        events = _events(engine, engine.script, generation, fault)
        return StreamingResponse(_written(engine, engine.script, events), media_type="text/event-stream")

    async def health(self, _: Request) -> Response:
        await asyncio.sleep(self._engine.script.health_delay_s)
        return Response(status_code=self._engine.script.health_status)

    async def models(self, _: Request) -> Response:
        window = self._engine.window_tokens
        model = {"id": self._engine.model, "object": "model", "owned_by": "vllm", "max_model_len": window}
        return JSONResponse({"object": "list", "data": [model]})

    async def tokenize(self, request: Request) -> Response:
        tokens = self._engine.vocabulary.prompt((await request.json())["messages"])
        return JSONResponse({"count": len(tokens), "max_model_len": self._engine.window_tokens, "tokens": []})

    async def metrics(self, _: Request) -> Response:
        engine = self._engine
        label = f'{{engine="0",model_name="{engine.model}"}}'
        running = {"num_requests_running": engine.running, "num_requests_waiting": 0}
        figures = {**running, "request_success_total": engine.served}
        return PlainTextResponse("".join(f"vllm:{name}{label} {value}.0\n" for name, value in figures.items()))

    async def script(self, request: Request) -> Response:
        changes = await request.json() if request.method == "POST" else asdict(Script())
        self._engine.script = replace(self._engine.script, **changes)
        return JSONResponse(asdict(self._engine.script))

    async def requests(self, request: Request) -> Response:
        if request.method == "DELETE":
            self._engine.requests.clear()
            self._engine.cache.clear()
        return JSONResponse(self._engine.requests)


def application(engine: Engine) -> Starlette:
    at = Endpoints(engine)
    return Starlette(
        routes=[
            Route("/v1/chat/completions", at.chat, methods=["POST"]),
            Route("/v1/models", at.models),
            Route("/tokenize", at.tokenize, methods=["POST"]),
            Route("/health", at.health),
            Route("/metrics", at.metrics),
            Route("/script", at.script, methods=["POST", "DELETE"]),
            Route("/requests", at.requests, methods=["GET", "DELETE"]),
        ]
    )


def _end_with(parent: int) -> None:
    """A test run that was killed cannot end its engines."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(0)


def main() -> None:
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    options = argparse.ArgumentParser(description="An engine that answers by a script.")
    options.add_argument("--port", type=int, required=True)
    options.add_argument("--model", default="smollm2")
    options.add_argument("--window", type=int, default=4096, help="max_model_len, in tokens")
    options.add_argument("--tokenizer", type=Path, help="a model's folder, or its tokenizer.json")
    chosen = options.parse_args()
    folder = chosen.tokenizer and (chosen.tokenizer.parent if chosen.tokenizer.is_file() else chosen.tokenizer)
    vocabulary: Vocabulary = RealTokens(folder) if folder else Words()
    engine = Engine(model=chosen.model, window_tokens=chosen.window, vocabulary=vocabulary)
    uvicorn.run(application(engine), host="127.0.0.1", port=chosen.port, log_level="critical", access_log=False)


if __name__ == "__main__":
    main()
