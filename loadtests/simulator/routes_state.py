"""The routes that tell how the replica is, and those of its vocabulary."""

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from loadtests.simulator.answer import CompactJson
from loadtests.simulator.body import DetokenizeBody, TokenizeBody, check_model, conversation_of, neither_field, read
from loadtests.simulator.domain.exposition import Subject, exposition
from loadtests.simulator.domain.wire import VERSION
from loadtests.simulator.errors import Refused
from loadtests.simulator.replica import Replica
from loadtests.simulator.vocabulary import chat_text

_SCALE_OUT = "Scale-out endpoints are disabled. Restart vllm serve with --enable-scale-out to enable them."
_SCALE_OUT_PATHS = (
    "/v1/chat/completions/render",
    "/v1/completions/render",
    "/inference/v1/generate",
    "/inference/v1/abort_requests",
)
_UNKNOWN = "None"


class StateRoutes:
    def __init__(self, replica: Replica, *, created_s: float) -> None:
        self._replica = replica
        self._subject = Subject(model=replica.model.name, created_s=created_s, cache=_cache_labels(replica))

    @property
    def all(self) -> list[Route]:
        return [
            Route("/health", self._health, methods=["GET"]),
            Route("/ping", self._health, methods=["GET", "POST"]),
            Route("/version", self._version, methods=["GET"]),
            Route("/load", self._load, methods=["GET"]),
            Route("/metrics", self._metrics, methods=["GET"]),
            Route("/kv_event_sources", self._kv_event_sources, methods=["GET"]),
            Route("/tokenize", self._tokenize, methods=["POST"]),
            Route("/detokenize", self._detokenize, methods=["POST"]),
            *(Route(path, self._scale_out, methods=["POST"]) for path in _SCALE_OUT_PATHS),
        ]

    async def _health(self, _: Request) -> Response:
        return Response(status_code=self._replica.health_status)

    async def _version(self, _: Request) -> Response:
        return CompactJson({"version": VERSION})

    async def _load(self, _: Request) -> Response:
        # Without the flag vLLM counts nothing, and says 0 under any load.
        is_tracked = self._replica.options.enable_server_load_tracking
        return CompactJson({"server_load": self._replica.in_flight if is_tracked else 0})

    async def _metrics(self, _: Request) -> Response:
        own = exposition(self._subject, self._replica.runner.snapshot())
        return Response(generate_latest() + own.encode(), headers={"content-type": CONTENT_TYPE_LATEST})

    async def _kv_event_sources(self, _: Request) -> Response:
        return CompactJson({})

    async def _tokenize(self, request: Request) -> Response:
        body = read(TokenizeBody, await request.body(), content_type=request.headers.get("content-type", ""))
        model = self._replica.model
        check_model(body.model, model.name)
        words = model.vocabulary
        if body.messages is not None:
            conversation = conversation_of(body.messages, model=model.name)
            text = chat_text(
                words,
                conversation,
                add_generation_prompt=body.add_generation_prompt,
                continue_final_message=body.continue_final_message,
            )
        elif body.prompt is not None:
            text = body.prompt
        else:
            raise neither_field("prompt", "messages", given=len(body.model_fields_set))
        ids = words.encode(text)
        names = [words.name_of(token) for token in ids] if body.return_token_strs else None
        return CompactJson(
            {"count": len(ids), "max_model_len": model.window_tokens, "tokens": ids, "token_strs": names}
        )

    async def _detokenize(self, request: Request) -> Response:
        body = read(DetokenizeBody, await request.body(), content_type=request.headers.get("content-type", ""))
        check_model(body.model, self._replica.model.name)
        return CompactJson({"prompt": self._replica.model.vocabulary.decode(body.tokens)})

    async def _scale_out(self, _: Request) -> Response:
        raise Refused(_SCALE_OUT, status=403, kind="PermissionDeniedError")


def _cache_labels(replica: Replica) -> dict[str, str]:
    profile = replica.profile
    blocks, block = profile.blocks, profile.limits.block_tokens
    known = {
        "block_size": block,
        "enable_prefix_caching": replica.caches_prefixes,
        "effective_attention_block_size": block,
        "num_gpu_blocks": blocks,
        "kv_cache_size_tokens": blocks * block,
        "kv_cache_memory_bytes": blocks * block * profile.memory.kv_bytes_per_token,
        "kv_cache_max_concurrency": blocks * block / profile.limits.window_tokens,
        "gpu_memory_utilization": profile.memory.utilisation,
    }
    fixed = {
        "_block_size_resolved": "True",
        "cache_dtype": "auto",
        "cache_hit_alignment_tokens": _UNKNOWN,
        "enable_mamba_shared_prefix_checkpoint": "False",
        "hash_block_size": _UNKNOWN,
        "is_attention_free": "False",
        "kv_cache_dtype_skip_layers": "[]",
        "kv_cache_layout": _UNKNOWN,
        "kv_offloading_backend": "native",
        "kv_offloading_size": _UNKNOWN,
        "kv_sharing_fast_prefill": "False",
        "mamba_block_size": _UNKNOWN,
        "mamba_cache_dtype": "auto",
        "mamba_cache_mode": "none",
        "mamba_page_size_padded": _UNKNOWN,
        "mamba_ssm_cache_dtype": "float32",
        "num_cpu_blocks": _UNKNOWN,
        "num_gpu_blocks_override": _UNKNOWN,
        "prefix_cache_retention_interval": "0",
        "prefix_caching_hash_algo": "sha256",
        "prefix_match_unit": _UNKNOWN,
        "replayssm_buffer_len": "16",
        "skip_page_size_padded": _UNKNOWN,
        "sliding_window": _UNKNOWN,
        "swa_bounded_replay": "True",
        "use_kda_recoverssm": "False",
        "use_replayssm": "False",
        "user_specified_block_size": "False",
    }
    return {**fixed, **{name: str(value) for name, value in known.items()}}
