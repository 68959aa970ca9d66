"""One trainee's connections to one server: requests, and answers whose lines are stamped as they arrive.

Locust's own client tells the time of a streamed request when its headers have come, and its line helper waits for
blocks of bytes. Here the raw stream is read line by line, and each line is stamped before anything looks at it.
"""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

from geventhttpclient.client import HTTPClient
from geventhttpclient.response import HTTPParseError, HTTPSocketPoolResponse

_CONNECTIONS = 4
"""A trainee has one stream at a time, and reads on, cancels or sends again beside it."""
_PLAIN = {"Accept-Encoding": "identity"}
_OWN_PORTS = {"http": 80, "https": 443}


class Lost(Exception):
    """The connection could not be made, or broke."""


@dataclass(frozen=True, slots=True)
class Answer:
    """To be closed by whoever does not read it to its end."""

    response: HTTPSocketPoolResponse

    @property
    def status(self) -> int:
        return self.response.status_code

    def header(self, name: str) -> str | None:
        value = self.response.get(name)
        return value if isinstance(value, str) else None

    def lines(self) -> Iterator[tuple[float, bytes]]:
        """Each line without its LF, and when it was there; raises `Lost` when the stream breaks off."""
        try:
            while raw := self.response.readline(b"\n"):
                yield time.perf_counter(), raw[:-1]
        except (HTTPParseError, OSError) as error:
            raise Lost(type(error).__name__) from error

    def body(self) -> bytes:
        try:
            return self.response.read()
        except (HTTPParseError, OSError) as error:
            raise Lost(type(error).__name__) from error

    def json(self) -> object:
        """None for what is no JSON."""
        try:
            return json.loads(self.body())
        except ValueError:
            return None

    def field(self, name: str) -> str:
        """Of the JSON object that the body is; empty where it is not there."""
        content = self.json()
        return str(content.get(name) or "") if isinstance(content, dict) else ""

    def close(self) -> None:
        """What has not been read is left unread, and the connection is cut."""
        self.response.release()


class Caller:
    """`key` goes along with every request, unless the request brings its own `Authorization`."""

    def __init__(self, base_url: str, *, key: str | None, patience_s: float) -> None:
        self.base_url = base_url
        parts = urlsplit(base_url)
        self._path = parts.path.rstrip("/")
        self._headers = {**_PLAIN, **({"Authorization": f"Bearer {key}"} if key else {})}
        self._client = HTTPClient(
            parts.hostname or "",
            port=parts.port or _OWN_PORTS[parts.scheme],
            ssl=parts.scheme == "https",
            concurrency=_CONNECTIONS,
            connection_timeout=patience_s,
            network_timeout=patience_s,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(
        self, method: str, path: str, *, body: bytes = b"", headers: Mapping[str, str | None] | None = None
    ) -> Answer:
        """The answer, as soon as its headers are there; raises `Lost`. A header of None is left out."""
        all_headers = {name: value for name, value in {**self._headers, **(headers or {})}.items() if value is not None}
        try:
            return Answer(self._client.request(method, self._path + path, body=body, headers=all_headers))
        except (HTTPParseError, OSError) as error:
            raise Lost(type(error).__name__) from error

    def send_json(
        self, method: str, path: str, content: object, *, headers: Mapping[str, str | None] | None = None
    ) -> Answer:
        written = json.dumps(content, ensure_ascii=False).encode()
        return self.send(method, path, body=written, headers={"Content-Type": "application/json", **(headers or {})})

    def close(self) -> None:
        self._client.close()
