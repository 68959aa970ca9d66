"""Under which name a replica is told a request."""

import re

from router.settings import EngineKind

_UUID = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def request_name(request_id: str, engine: EngineKind) -> tuple[tuple[str, str], ...]:
    """The header, or none: an engine we do not know may refuse a name that is no UUID, as llama-cpp-python does."""
    if engine is EngineKind.VLLM or _UUID.fullmatch(request_id):
        return (("x-request-id", request_id),)
    return ()
