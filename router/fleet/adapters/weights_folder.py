"""Weights in a folder of an object store, of a web server, or of this machine; beside them lies the list of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from obstore.exceptions import (
    BaseError,
    NotFoundError,
    NotSupportedError,
    PermissionDeniedError,
    UnauthenticatedError,
)
from obstore.store import ObjectStore, from_url
from typing_extensions import override

from router.fleet.domain.weights_list import LIST_NAME, WeightsFile, WeightsList, parsed_list, weights_list
from router.fleet.errors import WeightsUnusable
from router.fleet.ports import WeightsSource

if TYPE_CHECKING:
    from obstore import GetResult

SCHEMES: Final = frozenset({"s3", "gs", "az", "https", "http", "file"})
_CHUNK_BYTES: Final = 4 << 20
_LONGEST_LIST_BYTES: Final = 4 << 20
_REFUSALS: Final = (PermissionDeniedError, UnauthenticatedError)
# What is lost is tried again by whoever reads, who has kept what came before.
_RETRY: Final[Any] = {"max_retries": 2, "retry_timeout": timedelta(seconds=10)}
_CLIENT: Final[Any] = {
    "timeout": timedelta(days=2),
    "connect_timeout": timedelta(seconds=10),
    "allow_http": True,  # of web servers, and of stores whose address the environment says so
}


class WeightsFolder(WeightsSource):
    """`silence_s`: a server that sends nothing for so long is lost. Plain HTTP is taken too: what comes
    is held against the digest anyway. Credentials are the environment's, as each store's own tools take them.
    """

    def __init__(self, *, url: str, silence_s: float = 30.0) -> None:
        scheme = url.partition(":")[0]
        if scheme not in SCHEMES:
            raise WeightsUnusable(f"{scheme} is none of the places that weights come from")
        client = {**_CLIENT, "read_timeout": timedelta(seconds=silence_s)}
        over_a_line: dict[str, Any] = {"client_options": client, "retry_config": _RETRY}
        try:
            self._store: ObjectStore = from_url(url, **({} if scheme == "file" else over_a_line))
        except (BaseError, ValueError) as error:
            raise WeightsUnusable("the source of the weights is no folder that can be read") from error

    @override
    def files(self) -> WeightsList:
        text = bytearray()
        for chunk in self.read(WeightsFile(LIST_NAME, ""), start=0):
            text += chunk
            if len(text) > _LONGEST_LIST_BYTES:
                raise WeightsUnusable(f"{LIST_NAME} is too long for a list")
        listed = parsed_list(text.decode(errors="replace"))
        return weights_list(WeightsFile(file.path, file.sha256, self._size(file)) for file in listed.files)

    @override
    def read(self, file: WeightsFile, *, start: int) -> Iterator[bytes]:
        with _in_our_words(file.path):
            yield from self._from(file.path, start)

    def _from(self, path: str, start: int) -> Iterator[bytes]:
        if not start:
            return _chunks(self._store.get(path))
        try:
            return _chunks(self._store.get(path, options={"range": {"offset": start}}))
        except NotSupportedError:
            return bytes_after(start, _chunks(self._store.get(path)))

    def _size(self, file: WeightsFile) -> int:
        with _in_our_words(file.path):
            return int(self._store.head(file.path)["size"])


def _chunks(found: "GetResult") -> Iterator[bytes]:
    for chunk in found.stream(min_chunk_size=_CHUNK_BYTES):
        yield bytes(chunk)


def bytes_after(start: int, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """What follows those bytes: this server sends the whole only."""
    for chunk in chunks:
        if start < len(chunk):
            yield chunk[start:]
        start = max(0, start - len(chunk))


@contextmanager
def _in_our_words(path: str) -> Iterator[None]:
    """Without the store's own words, which hold its address and may hold a key."""
    try:
        yield
    except (NotFoundError, FileNotFoundError) as error:
        raise WeightsUnusable(f"{path} is not there") from error
    except (*_REFUSALS, PermissionError) as error:
        raise WeightsUnusable(f"{path} may not be read") from error
    except (BaseError, OSError, ValueError) as error:
        raise WeightsUnusable(f"{path} cannot be read ({type(error).__name__})", may_pass=True) from error
