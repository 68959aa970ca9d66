"""What is known of the request under way, for its log line; ids only, never what people wrote."""

import re
from dataclasses import asdict, dataclass
from uuid import uuid4

from starlette.types import Scope

from gateway.problems import Problem

_SCOPE_KEY = "drillyard.request"
_USABLE = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}", re.ASCII)


@dataclass(slots=True)
class RequestFacts:
    """Filled in as the request is understood. The names are those of the log line."""

    request_id: str
    tenant: str | None = None
    account: str | None = None
    role: str | None = None
    auth: str | None = None
    """What the caller showed: a key, a token or a ticket."""
    session: str | None = None
    turn: int | None = None
    code: str | None = None
    """Of a refusal."""
    limit: str | None = None
    """Which limit it was that refused."""
    ttft_ms: float | None = None

    def refused(self, problem: Problem) -> None:
        self.code = problem.code
        limit = problem.members.get("limit")
        self.limit = limit if isinstance(limit, str) else None

    def known(self) -> dict[str, str | int | float]:
        return {name: value for name, value in asdict(self).items() if value is not None}


def begin(scope: Scope) -> RequestFacts:
    """Give the request its id: the caller's own X-Request-ID where it can be written safely, a new one otherwise."""
    sent = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-request-id"]
    usable = len(sent) == 1 and _USABLE.fullmatch(sent[0])
    facts = RequestFacts(request_id=sent[0] if usable else uuid4().hex)
    scope[_SCOPE_KEY] = facts
    return facts


def facts_of(scope: Scope) -> RequestFacts:
    facts: RequestFacts = scope[_SCOPE_KEY]
    return facts
