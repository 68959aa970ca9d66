"""Weights from a model hub, by its public HTTP API.

The hub knows the SHA-256 of large files. Small ones are taken at once and hashed here: with them the list is whole, and
held against the digest that was asked for before the first large byte comes.
"""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final
from urllib.parse import quote

import httpx
from typing_extensions import override

from router.fleet.adapters.weights_folder import bytes_after
from router.fleet.domain.weights_list import WeightsFile, WeightsList, is_listed, weights_list
from router.fleet.errors import WeightsUnusable
from router.fleet.ports import WeightsSource

_MOST_PAGES: Final = 20
_MOST_SMALL_BYTES: Final = 64 << 20
"""Files without a digest at the hub are held in memory."""
_NOT_NOW: Final = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})
_REFUSALS: Final = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})


@dataclass(frozen=True, slots=True)
class HubPlace:
    """`endpoint`: the hub's own address, or that of a mirror."""

    endpoint: str
    repository: str
    revision: str

    @property
    def tree(self) -> str:
        return f"{self._base}/api/models/{quote(self.repository)}/tree/{quote(self.revision, safe='')}?recursive=true"

    def file(self, path: str) -> str:
        return f"{self._base}/{quote(self.repository)}/resolve/{quote(self.revision, safe='')}/{quote(path)}"

    @property
    def _base(self) -> str:
        return self.endpoint.rstrip("/")


class WeightsHub(WeightsSource):
    """The client bounds how long the hub may be silent. `token` is for what is not public; it goes to no other host."""

    def __init__(self, *, client: httpx.Client, place: HubPlace, token: str = "") -> None:
        self._client = client
        self._place = place
        self._headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {token}"} if token else {})
        self._small: dict[str, bytes] = {}

    @override
    def files(self) -> WeightsList:
        self._small.clear()
        return weights_list(self._known(entry) for entry in self._entries())

    @override
    def read(self, file: WeightsFile, *, start: int) -> Iterator[bytes]:
        if file.path in self._small:
            yield self._small[file.path][start:]
        else:
            yield from self._streamed(file.path, start)

    def _entries(self) -> Iterator[Mapping[str, object]]:
        url: str | None = self._place.tree
        for _ in range(_MOST_PAGES):
            if url is None:
                return
            with _in_our_words("its list of files"):
                page = self._client.get(url, headers=self._headers, follow_redirects=True)
                _check(page.status_code, "its list of files")
                entries = page.json()
            if not isinstance(entries, list):
                raise WeightsUnusable("the hub answers with what is no list of files")
            yield from (entry for entry in entries if isinstance(entry, dict) and _is_wanted(entry))
            url = page.links.get("next", {}).get("url")
            if url is not None and httpx.URL(url).host != httpx.URL(self._place.endpoint).host:
                raise WeightsUnusable("the hub's list of files goes on at another host")
        raise WeightsUnusable("the hub's list of files has no end")

    def _known(self, entry: Mapping[str, object]) -> WeightsFile:
        path, size, lfs = str(entry["path"]), entry.get("size"), entry.get("lfs")
        if isinstance(lfs, dict):
            size = lfs.get("size", size)
            if not isinstance(size, int):
                raise WeightsUnusable(f"the hub does not say how large {path} is")
            return WeightsFile(path, str(lfs.get("oid")), size)
        content, held = bytearray(), sum(map(len, self._small.values()))
        for chunk in self._streamed(path, 0):
            content += chunk
            if held + len(content) > _MOST_SMALL_BYTES:
                raise WeightsUnusable(f"the hub knows no digest of {path}, which is large, or one of many")
        self._small[path] = bytes(content)
        return WeightsFile(path, hashlib.sha256(content).hexdigest(), len(content))

    def _streamed(self, path: str, start: int) -> Iterator[bytes]:
        headers = self._headers | ({"Range": f"bytes={start}-"} if start else {})
        with (
            _in_our_words(path),
            self._client.stream("GET", self._place.file(path), headers=headers, follow_redirects=True) as answer,
        ):
            if start and answer.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                return
            _check(answer.status_code, path)
            chunks = answer.iter_raw()
            yield from chunks if answer.status_code == HTTPStatus.PARTIAL_CONTENT else bytes_after(start, chunks)


def _is_wanted(entry: Mapping[str, object]) -> bool:
    path = entry.get("path")
    return entry.get("type") == "file" and isinstance(path, str) and is_listed(path)


def _check(status: int, what: str) -> None:
    if status in (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT):
        return
    if status == HTTPStatus.NOT_FOUND:
        raise WeightsUnusable(f"the hub does not have {what}")
    if status in _REFUSALS:
        raise WeightsUnusable(f"the hub does not give {what} without a token that may have it (HTTP {status})")
    may_pass = status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in _NOT_NOW
    raise WeightsUnusable(f"the hub answers HTTP {status} to {what}", may_pass=may_pass)


@contextmanager
def _in_our_words(what: str) -> Iterator[None]:
    try:
        yield
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise WeightsUnusable(
            f"the hub could not be read for {what} ({type(error).__name__})", may_pass=True
        ) from error
