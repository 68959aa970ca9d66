"""One HTTP request to a server that may not be there yet, answered by a value and never by an exception."""

import http.client
import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass

_NOTHING_THERE = (OSError, http.client.HTTPException)


def _opener() -> urllib.request.OpenerDirector:
    """Only what this machine started is asked: a proxy could not reach it, and no certificate need name loopback."""
    whichever = ssl.create_default_context()
    whichever.check_hostname = False
    whichever.verify_mode = ssl.CERT_NONE
    return urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=whichever))


_OPENER = _opener()


@dataclass(frozen=True, slots=True)
class Answer:
    """`status` 0: there was no answer, and `text` says why."""

    status: int
    text: str

    @property
    def is_good(self) -> bool:
        return self.status == http.HTTPStatus.OK


def ask(url: str, *, body: Mapping[str, object] | None = None, timeout_s: float = 2.0) -> Answer:
    """GET, or POST when there is a body."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, headers={"Content-Type": "application/json"})  # noqa: S310
    try:
        with _OPENER.open(request, timeout=timeout_s) as response:
            return Answer(response.status, response.read().decode(errors="replace"))
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, error.read().decode(errors="replace"))
    except urllib.error.URLError as error:
        return Answer(0, str(error.reason))
    except _NOTHING_THERE as error:
        return Answer(0, str(error))
