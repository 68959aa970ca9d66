"""Small questions to a server over one kept connection, without what a client of many features costs."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Self
from urllib.parse import urlsplit


class Unanswered(Exception):
    """No answer, or not the one that was asked for."""


class HttpLine:
    """For one thread. A connection that the server has closed meanwhile is made once more."""

    def __init__(self, base_url: str, *, timeout_s: float = 2.0) -> None:
        parts = urlsplit(base_url)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._connection = kind(parts.hostname or "", parts.port, timeout=timeout_s)
        self._prefix = parts.path.rstrip("/")
        self._is_used = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, path: str, *, key: str | None = None) -> bytes:
        """The body of a 200; raises `Unanswered` for anything else."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            return self._asked(path, headers)
        except _Stale:
            return self._asked(path, headers)

    def get_object(self, path: str, *, key: str | None = None) -> Mapping[str, object]:
        try:
            told = json.loads(self.get(path, key=key))
        except ValueError:
            raise Unanswered(f"{path} is not answered with JSON") from None
        if not isinstance(told, dict):
            raise Unanswered(f"{path} is not answered with a JSON object")
        return told

    def close(self) -> None:
        self._connection.close()

    def _asked(self, path: str, headers: Mapping[str, str]) -> bytes:
        was_used, self._is_used = self._is_used, True
        try:
            self._connection.request("GET", self._prefix + path, headers=dict(headers))
            answer = self._connection.getresponse()
            body = answer.read()
        except (HTTPException, OSError) as error:
            self._connection.close()
            self._is_used = False
            if was_used and not isinstance(error, TimeoutError):
                raise _Stale from error
            raise Unanswered(str(error) or type(error).__name__) from error
        if answer.status != HTTPStatus.OK:
            raise Unanswered(_refusal(path, answer.status, has_key=bool(headers)))
        return body


def _refusal(path: str, status: int, *, has_key: bool) -> str:
    told = f"{path} is answered with HTTP {status}"
    if status not in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return told
    return f"{told}: it does not take this key" if has_key else f"{told}: it wants a key"


class _Stale(Exception):
    """A connection that had been used is gone."""
