"""A chat request as the bytes that go to a replica; the same request is the same bytes."""

import json

from router.domain.exchange import Call, CallPath, ChatRequest


def chat_call(request: ChatRequest) -> Call:
    headers = [("X-Session-ID", request.session_id)] if request.session_id else []
    if request.trace_parent:
        headers.append(("traceparent", request.trace_parent))
    return Call(
        path=CallPath.CHAT,
        body=body_of(request),
        model=request.model,
        is_streamed=True,
        request_id=request.request_id,
        headers=tuple(headers),
    )


def body_of(request: ChatRequest) -> bytes:
    """A lone surrogate, which UTF-8 cannot carry, becomes a question mark."""
    body: dict[str, object] = {
        "model": request.model,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.cache_salt:
        body["cache_salt"] = request.cache_salt
    if request.template_arguments:
        body["chat_template_kwargs"] = dict(request.template_arguments)
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
