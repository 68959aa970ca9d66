"""A fleet that is listed in a JSON file, which is read again whenever it changes.

The file holds `[{"id": "a", "url": "http://10.0.0.1:8000", "models": ["m"]}, ...]`; `models` may be left out. Whoever
writes it should write another file and rename it; one that is read half-written is refused, and read again when it has
changed once more.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pydantic import AnyHttpUrl, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from typing_extensions import override

from router.domain.board_limits import MOST_ENTRIES
from router.domain.fleet import ReplicaId, ReplicaSpec
from router.errors import FleetSourceUnavailable
from router.ports import FleetSource

_MOST_BYTES = 4 << 20

_Mark = tuple[int, int, int]
"""Tells one state of the file from another: its inode, its length, when it was written."""


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: str = Field(min_length=1, max_length=200, pattern=r"^[!-~]+$")
    url: AnyHttpUrl
    models: frozenset[str] = frozenset()


_ENTRIES = TypeAdapter(list[_Entry])


class FileFleet(FleetSource):
    def __init__(self, *, path: Path, poll_s: float = 1.0) -> None:
        self._path = path
        self._poll_s = poll_s
        self._read: _Mark | None = None

    @override
    async def replicas(self) -> Sequence[ReplicaSpec]:
        # Marked before it is read: what is written meanwhile makes another mark.
        self._read = await asyncio.to_thread(self._mark)
        return _parsed(await asyncio.to_thread(self._content), self._path)

    @override
    async def changed(self) -> None:
        while True:
            if await asyncio.to_thread(self._mark) != self._read:
                return
            await asyncio.sleep(self._poll_s)

    def _mark(self) -> _Mark | None:
        try:
            seen = self._path.stat()
        except OSError:
            return None
        return seen.st_ino, seen.st_size, seen.st_mtime_ns

    def _content(self) -> bytes:
        try:
            with self._path.open("rb") as file:
                content = file.read(_MOST_BYTES + 1)
        except OSError as error:
            raise FleetSourceUnavailable(f"{self._path} cannot be read ({error.strerror})") from error
        if len(content) > _MOST_BYTES:
            raise FleetSourceUnavailable(f"{self._path} has more than {_MOST_BYTES >> 20} MiB")
        return content


def _parsed(content: bytes, path: Path) -> tuple[ReplicaSpec, ...]:
    try:
        entries = _ENTRIES.validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise FleetSourceUnavailable(f"{path} is not a list of replicas: {where or 'it'}: {first['msg']}") from error
    if len(entries) > MOST_ENTRIES:
        raise FleetSourceUnavailable(f"{path} names more than {MOST_ENTRIES} replicas")
    named = Counter(entry.id for entry in entries)
    if twice := next((each for each, times in named.items() if times > 1), None):
        raise FleetSourceUnavailable(f"{path} names the replica {twice} twice")
    return tuple(ReplicaSpec(ReplicaId(entry.id), str(entry.url).rstrip("/"), entry.models) for entry in entries)
