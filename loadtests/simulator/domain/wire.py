"""vLLM 0.32's JSON, key by key and in its order: chunks, bodies, usage and errors.

What surprises is meant: the role chunk has no `stop_reason`, the finish chunk does; `system_fingerprint` rides in the
finish chunk unless a usage chunk follows; the details of usage differ between streams and bodies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

Document = Mapping[str, object]

VERSION = "0.32.0"
DONE = b"data: [DONE]\n\n"
KEEP_ALIVE = b": keep-alive\n\n"


class Kind(StrEnum):
    CHAT = "chat"
    COMPLETION = "completion"

    @property
    def prefix(self) -> str:
        return "chatcmpl-" if self is Kind.CHAT else "cmpl-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0
    created_cache_tokens: int = 0

    @property
    def counts(self) -> dict[str, object]:
        total = self.prompt_tokens + self.completion_tokens
        return {
            "prompt_tokens": self.prompt_tokens,
            "total_tokens": total,
            "completion_tokens": self.completion_tokens,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """What a request's own measurements are, in milliseconds of the engine's time."""

    time_to_first_token_ms: float
    generation_time_ms: float
    queue_time_ms: float
    mean_itl_ms: float
    tokens_per_second: float

    @property
    def document(self) -> dict[str, object]:
        return {
            "time_to_first_token_ms": self.time_to_first_token_ms,
            "generation_time_ms": self.generation_time_ms,
            "queue_time_ms": self.queue_time_ms,
            "mean_itl_ms": self.mean_itl_ms,
            "tokens_per_second": self.tokens_per_second,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """What one choice says in one chunk, or in a body as a whole."""

    index: int
    text: str
    finish_reason: str | None = None
    stop_reason: str | int | None = None
    token_ids: Sequence[int] | None = None
    logprobs: Document | None = None
    prompt_token_ids: Sequence[int] | None = None
    """Of a completion; a chat tells them in its role chunk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What all chunks of one answer have in common."""

    kind: Kind
    id: str
    created: int
    model: str
    fingerprint: str
    details: bool
    """Whether usage says how many tokens came from the cache."""

    def role_chunk(
        self, *, index: int, role: str, prompt_token_ids: Sequence[int] | None, usage: Usage | None
    ) -> Document:
        choice = {"index": index, "delta": {"role": role, "content": ""}, "logprobs": None, "finish_reason": None}
        chunk = self._chunk([choice], usage)
        return {**chunk, "prompt_token_ids": prompt_token_ids, "prompt_text": None}

    def text_chunk(self, piece: Piece, *, usage: Usage | None, is_last: bool) -> Document:
        """`is_last` for a finish chunk that no usage chunk follows."""
        choice = self._chat_choice(piece) if self.kind is Kind.CHAT else _completion_choice(piece)
        chunk = self._chunk([choice], usage)
        if is_last and piece.finish_reason is not None:
            chunk["system_fingerprint"] = self.fingerprint
        return chunk

    def echo_chunk(self, *, index: int, text: str) -> Document:
        """What is continued, said once more before the answer."""
        choice = {"index": index, "delta": {"content": text}, "logprobs": None, "finish_reason": None}
        return self._chunk([choice], None)

    def usage_chunk(self, usage: Usage, moments: Moments | None) -> Document:
        details: dict[str, object] = {}
        if self.details:
            details["prompt_tokens_details"] = self._cache_counts(usage)
        chunk = self._chunk([], None)
        chunk |= {"usage": {**usage.counts, **details}, "system_fingerprint": self.fingerprint}
        if moments is not None:
            chunk["metrics"] = moments.document
        return chunk

    def body(self, choices: Sequence[Document], usage: Usage, moments: Moments | None, **tail: object) -> Document:
        details: dict[str, object] | None = None
        if self.details:
            created = usage.created_cache_tokens if self.kind is Kind.CHAT else None
            details = {"cached_tokens": usage.cached_tokens, "created_cache_tokens": created, "multimodal_tokens": None}
        return {
            "id": self.id,
            "object": "chat.completion" if self.kind is Kind.CHAT else "text_completion",
            "created": self.created,
            "model": self.model,
            "choices": choices,
            "service_tier": None,
            "system_fingerprint": self.fingerprint,
            "usage": {**usage.counts, "prompt_tokens_details": details, "completion_tokens_details": None},
            **tail,
            "kv_transfer_params": None,
            "ec_transfer_params": None,
            "metrics": None if moments is None else {**moments.document, "speculative_decoding": None},
        }

    def _chunk(self, choices: list[dict[str, object]], usage: Usage | None) -> dict[str, object]:
        chunk: dict[str, object] = {
            "id": self.id,
            "object": "chat.completion.chunk" if self.kind is Kind.CHAT else "text_completion",
            "created": self.created,
            "model": self.model,
            "choices": choices,
        }
        if usage is not None:
            chunk["usage"] = usage.counts
            if self.kind is Kind.CHAT:
                chunk["usage"] = {**usage.counts, "completion_tokens_details": None}
        return chunk

    def _chat_choice(self, piece: Piece) -> dict[str, object]:
        choice: dict[str, object] = {
            "index": piece.index,
            "delta": {"content": piece.text},
            "logprobs": piece.logprobs,
            "finish_reason": piece.finish_reason,
        }
        if piece.finish_reason is not None:
            choice["stop_reason"] = piece.stop_reason
        return {**choice, "token_ids": piece.token_ids}

    def _cache_counts(self, usage: Usage) -> dict[str, object]:
        counts: dict[str, object] = {"cached_tokens": usage.cached_tokens}
        if self.kind is Kind.CHAT:
            counts["created_cache_tokens"] = usage.created_cache_tokens
        return counts


def chat_message(piece: Piece, *, role: str) -> Document:
    """One choice of a chat's body."""
    nothing = dict.fromkeys(("refusal", "annotations", "audio", "function_call", "reasoning"))
    return {
        "index": piece.index,
        "message": {"role": role, "content": piece.text, **nothing},
        "logprobs": piece.logprobs,
        "finish_reason": piece.finish_reason,
        "stop_reason": piece.stop_reason,
        "token_ids": piece.token_ids,
        "routed_experts": None,
    }


def completion_text(piece: Piece) -> Document:
    """One choice of a completion's body."""
    return {
        "index": piece.index,
        "text": piece.text,
        "logprobs": piece.logprobs,
        "finish_reason": piece.finish_reason,
        "stop_reason": piece.stop_reason,
        "token_ids": piece.token_ids,
        "prompt_logprobs": None,
        "prompt_token_ids": piece.prompt_token_ids,
        "routed_experts": None,
    }


def error_body(status: int, message: str, *, kind: str, param: str | None) -> Document:
    return {"error": {"message": message, "type": kind, "param": param, "code": status}}


def _completion_choice(piece: Piece) -> dict[str, object]:
    return {
        "index": piece.index,
        "text": piece.text,
        "logprobs": piece.logprobs,
        "finish_reason": piece.finish_reason,
        "stop_reason": piece.stop_reason,
        "prompt_token_ids": piece.prompt_token_ids,
        "token_ids": piece.token_ids,
    }
