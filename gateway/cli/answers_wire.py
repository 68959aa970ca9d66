"""What the public API answers about jobs; members that are not named here are left alone."""

from typing import Any

from pydantic import ConfigDict

from gateway.cli.wire import Answer


class LayerView(Answer):
    layer: int
    total: int
    completed: int


class JobErrorView(Answer):
    code: str
    message: str


class JobView(Answer):
    id: str
    state: str
    total: int
    done: int
    failed: int
    cancelled: int
    layers: tuple[LayerView, ...] = ()
    error: JobErrorView | None = None

    @property
    def is_over(self) -> bool:
        return self.state not in ("queued", "running")


class ResultView(Answer):
    """One question; everything that the server says of it goes on into the file."""

    model_config = ConfigDict(frozen=True, extra="allow")

    number: int

    def line(self) -> dict[str, Any]:
        return self.model_dump(mode="json")


class JobPage(JobView):
    results: tuple[ResultView, ...]
    next_cursor: str | None = None
