"""What is known of the request under way, for its log line; ids only, never what people wrote."""

import re
from dataclasses import dataclass
from uuid import uuid4

from starlette.types import Scope

_SCOPE_KEY = "drillyard.request"
_USABLE = re.compile(r"[\x20-\x7e]{1,128}")


@dataclass(slots=True)
class RequestFacts:
    """Filled in as the request is understood."""

    request_id: str
    tenant: str | None = None
    account: str | None = None
    session: str | None = None
    turn: int | None = None

    def known(self) -> dict[str, str | int]:
        facts = {
            "request_id": self.request_id,
            "tenant": self.tenant,
            "account": self.account,
            "session": self.session,
            "turn": self.turn,
        }
        return {name: value for name, value in facts.items() if value is not None}


def begin(scope: Scope) -> RequestFacts:
    """Give the request its id: the caller's own X-Request-ID where it can be written safely, a new one otherwise."""
    sent = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-request-id"]
    usable = len(sent) == 1 and sent[0].strip() and _USABLE.fullmatch(sent[0])
    facts = RequestFacts(request_id=sent[0] if usable else uuid4().hex)
    scope[_SCOPE_KEY] = facts
    return facts


def facts_of(scope: Scope) -> RequestFacts:
    facts: RequestFacts = scope[_SCOPE_KEY]
    return facts
