"""The bytes that the mock engine sends: answers of vLLM 0.32, shape for shape, with the time in the place of the text.

Every piece of a stream says as its text when it was sent, in nanoseconds of the machine's monotonic clock. Whoever
hears it therefore knows how long it was on its way, whatever stands between.
"""

import json
from dataclasses import dataclass

MODEL = "smollm2"
WINDOW_TOKENS = 32_768
STAMP_DIGITS = 15
WHOLE_TEXT = "The capital of France is Paris."
METRICS = (
    b"# TYPE vllm:num_requests_running gauge\n"
    b'vllm:num_requests_running{engine="0",model_name="smollm2"} 0.0\n'
    b"# TYPE vllm:num_requests_waiting gauge\n"
    b'vllm:num_requests_waiting{engine="0",model_name="smollm2"} 0.0\n'
    b"# TYPE vllm:kv_cache_usage_perc gauge\n"
    b'vllm:kv_cache_usage_perc{engine="0",model_name="smollm2"} 0.01\n'
    b"# TYPE vllm:cache_config_info gauge\n"
    b'vllm:cache_config_info{block_size="16",num_gpu_blocks="1000000",enable_prefix_caching="True",engine="0"} 1.0\n'
)

_JSON, _TEXT = "application/json", "text/plain; version=0.0.4; charset=utf-8"
_CREATED = 1_795_956_720
_USAGE = {
    "prompt_tokens": 270,
    "total_tokens": 278,
    "completion_tokens": 8,
    "prompt_tokens_details": {"cached_tokens": 256},
}
_STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\ndate: Sun, 29 Nov 2026 12:52:00 GMT\r\nserver: uvicorn\r\n"
    b"content-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n"
)


@dataclass(frozen=True, slots=True)
class StreamBytes:
    """A stream, as frames of chunked transfer. A piece is `before`, the stamp, and `after`."""

    start: bytes
    before: bytes
    after: bytes
    end: bytes

    def piece(self, stamp_ns: int) -> bytes:
        return b"%b%0*d%b" % (self.before, STAMP_DIGITS, stamp_ns, self.after)


def whole(replica: int) -> bytes:
    """A whole answer; its id begins with the number of its replica."""
    message = {"role": "assistant", "content": WHOLE_TEXT, "refusal": None, "annotations": None, "audio": None}
    choice = {
        "index": 0,
        "message": message | {"function_call": None, "reasoning": None},
        "logprobs": None,
        "finish_reason": "stop",
        "stop_reason": None,
        "token_ids": None,
    }
    body = {
        "id": _id(replica),
        "object": "chat.completion",
        "created": _CREATED,
        "model": MODEL,
        "choices": [choice],
        "service_tier": None,
        "system_fingerprint": "vllm-0.32.0-2af0b41f",
        "usage": _USAGE | {"completion_tokens_details": None},
        "prompt_logprobs": None,
        "prompt_token_ids": None,
        "kv_transfer_params": None,
    }
    return answer(_dumped(body))


def stream(replica: int, *, has_token_ids: bool, has_usage: bool = False) -> StreamBytes:
    """With token ids the first event holds those of the prompt, and every piece its own."""
    prompt_ids = list(range(1_000, 1_270)) if has_token_ids else None
    ids = [28_504] if has_token_ids else None
    first = _choice({"role": "assistant", "content": ""}) | {"finish_reason": None}
    role = _event(replica, first, {"prompt_token_ids": prompt_ids, "prompt_text": None})
    mark = "0" * STAMP_DIGITS
    piece = _event(replica, _choice({"content": mark}) | {"finish_reason": None, "token_ids": ids}, {})
    before, after = piece.split(mark.encode())
    last = _choice({"content": ""}) | {"finish_reason": "stop", "stop_reason": None, "token_ids": ids}
    finish = _event(replica, last, {"system_fingerprint": "vllm-0.32.0-2af0b41f"})
    usage = _event(replica, None, {"usage": _USAGE}) if has_usage else b""
    end = finish + usage + _framed(b"data: [DONE]\n\n") + b"0\r\n\r\n"
    return StreamBytes(_STREAM_HEAD + role, before, after, end)


def page(path: str) -> bytes:
    """What engines are asked beside generating."""
    match path:
        case "/health" | "/ping":
            return answer(b"")
        case "/version":
            return answer(_dumped({"version": "0.32.0"}))
        case "/metrics":
            return answer(METRICS, kind=_TEXT)
        case "/v1/models":
            card = {"id": MODEL, "object": "model", "owned_by": "vllm", "root": MODEL, "max_model_len": WINDOW_TOKENS}
            return answer(_dumped({"object": "list", "data": [card]}))
        case "/tokenize":
            return counted(270)
        case _:
            return answer(_dumped({"detail": "Not Found"}), status="404 Not Found")


def counted(tokens: int) -> bytes:
    """What `/tokenize` answers."""
    return answer(_dumped({"count": tokens, "max_model_len": WINDOW_TOKENS, "tokens": [1], "token_strs": None}))


def answer(body: bytes, *, status: str = "200 OK", kind: str = _JSON) -> bytes:
    head = f"HTTP/1.1 {status}\r\nserver: uvicorn\r\ncontent-length: {len(body)}\r\ncontent-type: {kind}\r\n\r\n"
    return head.encode() + body


def _event(replica: int, choice: dict[str, object] | None, beside: dict[str, object]) -> bytes:
    head = {"id": _id(replica), "object": "chat.completion.chunk", "created": _CREATED, "model": MODEL}
    return _framed(b"data: " + _dumped({**head, "choices": [] if choice is None else [choice], **beside}) + b"\n\n")


def _choice(delta: dict[str, object]) -> dict[str, object]:
    return {"index": 0, "delta": delta, "logprobs": None}


def _id(replica: int) -> str:
    return f"chatcmpl-{replica}df3a97053d362b8"


def _framed(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _dumped(value: dict[str, object]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
