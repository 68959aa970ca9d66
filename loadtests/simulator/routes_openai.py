"""The routes of the OpenAI API: chats, completions, models."""

import time
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from loadtests.simulator.answer import Answer, CompactJson, Taken
from loadtests.simulator.ask import Ask, ask_chat, ask_completion
from loadtests.simulator.body import ChatBody, CompletionBody, read
from loadtests.simulator.domain.faults import Asked
from loadtests.simulator.errors import bad_request
from loadtests.simulator.recorder import Record, prefix_of
from loadtests.simulator.replica import Replica

_SECRET_HEADERS = frozenset({"authorization", "cookie"})


class OpenAiRoutes:
    def __init__(self, replica: Replica) -> None:
        self._replica = replica

    @property
    def all(self) -> list[Route]:
        return [
            Route("/v1/chat/completions", self._chat, methods=["POST"]),
            Route("/v1/completions", self._completion, methods=["POST"]),
            Route("/v1/models", self._models, methods=["GET"]),
        ]

    async def _chat(self, request: Request) -> Response:
        raw = await request.body()
        body = read(ChatBody, raw, content_type=request.headers.get("content-type", ""))
        _check_rank(request)
        return self._answer(request, raw, ask_chat(body, self._replica.model, self._replica.rules))

    async def _completion(self, request: Request) -> Response:
        raw = await request.body()
        body = read(CompletionBody, raw, content_type=request.headers.get("content-type", ""))
        _check_rank(request)
        return self._answer(request, raw, ask_completion(body, self._replica.model, self._replica.rules))

    def _answer(self, request: Request, raw: bytes, ask: Ask) -> Response:
        replica = self._replica
        record = replica.recorder.add(self._record(request, raw, ask))
        asked = Asked(record.request_id, record.session, record.salt, ask.last)
        faults = replica.faults.for_request(asked, now_s=replica.now_s)
        load_format = request.headers.get("endpoint-load-metrics-format", "")
        return Answer(replica, Taken(ask=ask, record=record, faults=faults, load_format=load_format))

    def _record(self, request: Request, raw: bytes, ask: Ask) -> Record:
        body = ask.body
        salt = body.cache_salt or ""
        return Record(
            at_s=self._replica.now_s,
            path=request.url.path,
            # The header beats the body.
            request_id=request.headers.get("x-request-id") or body.request_id or uuid4().hex[:16],
            session=request.headers.get("x-session-id") or body.session_id or "",
            salt=salt,
            priority=_priority(request, body.priority),
            prompt_tokens=len(ask.prompt),
            prefix=prefix_of(ask.prompt, salt),
            stream=ask.streams,
            body=raw.decode("utf-8", "replace"),
            headers={name: value for name, value in request.headers.items() if name not in _SECRET_HEADERS},
        )

    async def _models(self, _: Request) -> Response:
        replica, now = self._replica, int(time.time())
        permission = {
            "id": f"modelperm-{uuid4().hex[:16]}",
            "object": "model_permission",
            "created": now,
            "allow_create_engine": False,
            "allow_sampling": True,
            "allow_logprobs": True,
            "allow_search_indices": False,
            "allow_view": True,
            "allow_fine_tuning": False,
            "organization": "*",
            "group": None,
            "is_blocking": False,
        }
        model = {
            "id": replica.model.name,
            "object": "model",
            "created": now,
            "owned_by": "vllm",
            # Unlike a real replica's, so that nobody holds the answers of both against each other.
            "root": f"simulated:{replica.options.model or replica.profile.name}",
            "parent": None,
            "max_model_len": replica.model.window_tokens,
            "permission": [permission],
        }
        return CompactJson({"object": "list", "data": [model]})


def _check_rank(request: Request) -> None:
    """There is one engine, and its rank is 0; what is no number is ignored."""
    rank = request.headers.get("x-data-parallel-rank", "0")
    if rank.isdecimal() and int(rank) != 0:
        raise bad_request(f"data_parallel_rank {rank} is out of range [0, 1).")


def _priority(request: Request, in_body: int) -> int:
    """The header beats the body; what is no number is ignored."""
    try:
        return int(request.headers.get("x-vllm-priority", in_body))
    except ValueError:
        return in_body
