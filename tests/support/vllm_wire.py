"""vLLM's wire, byte for byte: the chunks of one chat stream, and error bodies."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.responses import JSONResponse

ENGINE_DIED = "EngineCore encountered an issue. See stack trace (above) for the root cause."
DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Generation:
    """One reply on its way."""

    id: str
    model: str
    pieces: list[str]
    reason: str
    prompt_tokens: int
    cached_tokens: int

    def chunk(self, **fields: object) -> bytes:
        head = {"id": self.id, "object": "chat.completion.chunk", "created": int(time.time()), "model": self.model}
        return event({**head, **fields})

    def role(self) -> bytes:
        delta = {"role": "assistant", "content": ""}
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}
        return self.chunk(choices=[choice], prompt_token_ids=None, prompt_text=None)

    def text(self, content: str) -> bytes:
        choice = {"index": 0, "delta": {"content": content}, "logprobs": None, "finish_reason": None}
        return self.chunk(choices=[{**choice, "token_ids": None}])

    def finish(self, content: str, reason: str) -> bytes:
        choice = {"index": 0, "delta": {"content": content}, "logprobs": None, "finish_reason": reason}
        return self.chunk(choices=[{**choice, "stop_reason": None, "token_ids": None}])

    def usage(self) -> dict[str, object]:
        # The token that ends a reply is counted by the real engine too, when the reply ended by itself.
        completion = len(self.pieces) + (self.reason == "stop")
        created = self.prompt_tokens // 16 - self.cached_tokens // 16
        return {
            "prompt_tokens": self.prompt_tokens,
            "total_tokens": self.prompt_tokens + completion,
            "completion_tokens": completion,
            "prompt_tokens_details": {"cached_tokens": self.cached_tokens, "created_cache_tokens": created * 16},
        }


def event(data: Mapping[str, object]) -> bytes:
    return b"data: " + json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n\n"


def error_answer(status: int, message: str, *, kind: str = "BadRequestError", param: str | None = None) -> JSONResponse:
    error = {"message": message, "type": kind, "param": param, "code": status}
    return JSONResponse({"error": error}, status_code=status)
