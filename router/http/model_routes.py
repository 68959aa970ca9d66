"""GET /v1/models: what all pools together serve, in OpenAI's shape."""

from collections.abc import Callable

from router.domain.fleet import Fleet
from router.errors import ModelUnknown
from router.http.answer import Answer, Plain, told
from router.http.routes import ANY, Caller, Request, Route


class ModelRoutes:
    """`since` stands where OpenAI tells when a model was made: when this process began, in seconds since the epoch."""

    def __init__(self, *, fleet: Callable[[], Fleet], since: int) -> None:
        self._fleet = fleet
        self._since = since

    def routes(self) -> tuple[Route, ...]:
        return (
            Route(("v1", "models"), Caller.CLIENT, {"GET": self._list}),
            Route(("v1", "models", ANY), Caller.CLIENT, {"GET": self._read}),
        )

    async def _list(self, _request: Request) -> Answer:
        return told({"object": "list", "data": [self._shown(model) for model in sorted(self._fleet().models)]})

    async def _read(self, request: Request) -> Answer:
        (model,) = request.named
        served = self._fleet().models
        if model not in served:
            raise ModelUnknown(model, served=tuple(sorted(served)))
        return told(self._shown(model))

    def _shown(self, model: str) -> Plain:
        return {"id": model, "object": "model", "created": self._since, "owned_by": "drillyard"}
