"""How every refusal is told to callers: its status, its stable code, and which of its facts are shown (RFC 9457).

`KINDS` is the only such table. A test demands that each error of the three packages stands in it, and that
docs/errors.md lists every code.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from itertools import chain

from gateway import errors as edge
from gateway.domain.limit_headers import limit_headers
from router import errors as routing
from router.fleet import errors as scaling
from sessions import errors as training

PROBLEM_JSON = "application/problem+json"

Fact = str | int | float | bool
Member = Fact | list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of refusal. `detail` replaces the error's own words where those could tell of the inside."""

    status: HTTPStatus
    code: str
    detail: str | None = None
    facts: tuple[str, ...] = ()


_CONFLICT = HTTPStatus.CONFLICT
_TOO_LARGE = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
_UNPROCESSABLE = HTTPStatus.UNPROCESSABLE_ENTITY
_UNAVAILABLE = HTTPStatus.SERVICE_UNAVAILABLE

_NO_REPLICA = "no replica can take the turn now; nothing was generated"
_NOBODY_THERE = (
    "no replica is there now, and nothing was generated; where replicas follow the class calendar, they are there from "
    "a class's bell on"
)
_NO_ROOM = "every replica is full, and the wait for room was in vain; nothing was generated"
_NO_PLAN = "the classes, or what is remembered of the fleet, cannot be read now"
_INTERNAL = Kind(HTTPStatus.INTERNAL_SERVER_ERROR, "internal_error", "something went wrong here; it has been logged")

KINDS: Mapping[type[Exception], Kind] = {
    edge.Unauthenticated: Kind(HTTPStatus.UNAUTHORIZED, "unauthenticated"),
    edge.CredentialInvalid: Kind(HTTPStatus.UNAUTHORIZED, "unauthenticated"),
    edge.TokenInvalid: Kind(HTTPStatus.UNAUTHORIZED, "unauthenticated", "the token is not valid"),
    edge.NotEnrolled: Kind(
        HTTPStatus.FORBIDDEN, "not_enrolled", "the token is good, but names no tenant or no role that is known here"
    ),
    edge.SignInUnavailable: Kind(
        _UNAVAILABLE, "sign_in_unavailable", "tokens cannot be checked now, since their issuer cannot be asked"
    ),
    edge.KeySetUnavailable: _INTERNAL,  # of the reading in the background; no request ever meets it
    edge.TicketsUnavailable: Kind(_UNAVAILABLE, "tickets_unavailable", "there are no stream tickets now"),
    edge.TooManyKeys: Kind(_CONFLICT, "too_many_keys", facts=("limit",)),
    edge.KeyNotFound: Kind(HTTPStatus.NOT_FOUND, "key_not_found", "there is no such living key"),
    edge.Forbidden: Kind(HTTPStatus.FORBIDDEN, "forbidden", facts=("role", "action")),
    edge.ScopeMissing: Kind(HTTPStatus.FORBIDDEN, "scope_missing", facts=("action",)),
    edge.BodyTooLarge: Kind(_TOO_LARGE, "body_too_large", facts=("limit_bytes",)),
    edge.BodyNotJson: Kind(HTTPStatus.BAD_REQUEST, "body_not_json"),
    edge.UnsupportedMediaType: Kind(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type"),
    edge.FieldInvalid: Kind(_UNPROCESSABLE, "invalid_request"),
    edge.AcceptMalformed: Kind(HTTPStatus.BAD_REQUEST, "accept_malformed"),
    edge.NotAcceptable: Kind(HTTPStatus.NOT_ACCEPTABLE, "not_acceptable"),
    edge.IdempotencyKeyInvalid: Kind(HTTPStatus.BAD_REQUEST, "idempotency_key_invalid"),
    edge.TooManyUploads: Kind(_UNAVAILABLE, "too_many_uploads", facts=("limit",)),
    edge.ServerStopping: Kind(_UNAVAILABLE, "server_stopping", "this process is shutting down; try again"),
    edge.AccountRefused: Kind(_CONFLICT, "account_refused"),
    edge.AccountNotFound: Kind(HTTPStatus.NOT_FOUND, "account_not_found", "there is no such account"),
    edge.DecisionNotFound: Kind(HTTPStatus.NOT_FOUND, "decision_not_found", "nothing is kept of this turn's routing"),
    edge.PoolNotFound: Kind(HTTPStatus.NOT_FOUND, "pool_not_found"),
    edge.RouterUnreachable: Kind(_UNAVAILABLE, "router_unreachable", "the router cannot be asked now"),
    edge.ParameterUnsupported: Kind(HTTPStatus.BAD_REQUEST, "unsupported_parameter", facts=("param",)),
    edge.ModelNotServed: Kind(HTTPStatus.NOT_FOUND, "model_not_found", facts=("param",)),
    edge.ContextTooLong: Kind(HTTPStatus.BAD_REQUEST, "context_length_exceeded", facts=("tokens", "limit", "param")),
    edge.ChatRejected: Kind(_UNPROCESSABLE, "invalid_request", facts=("param",)),
    edge.ContentBlocked: Kind(HTTPStatus.BAD_REQUEST, "content_blocked", facts=("reason", "param")),
    edge.FleetUnfit: _INTERNAL,  # refuses the start; no request ever meets it
    edge.AccountLimitReached: Kind(HTTPStatus.TOO_MANY_REQUESTS, "account_limit", facts=("limit",)),
    edge.DrillAtWatermark: Kind(_UNAVAILABLE, "drill_watermark"),
    edge.DrillFull: Kind(_UNAVAILABLE, "drill_full"),
    edge.TenantFull: Kind(_UNAVAILABLE, "tenant_full"),
    edge.SeatsUnavailable: Kind(_UNAVAILABLE, "seats_unavailable"),
    edge.LimitsUnavailable: _INTERNAL,  # local limits stand in; no request ever meets it
    edge.JournalUnavailable: Kind(
        _UNAVAILABLE, "journal_unavailable", "a turn that another process runs cannot be read or stopped now"
    ),
    edge.ReviewDecided: Kind(
        _CONFLICT, "review_decided", "another decision stands about this turn; nothing was written"
    ),
    edge.PhraseListNotFound: Kind(
        HTTPStatus.NOT_FOUND, "phrase_list_not_found", "there is no such phrase list, or no such version of it"
    ),
    edge.PhraseListExists: Kind(_CONFLICT, "phrase_list_exists", "there is a phrase list of this name"),
    edge.PhraseListInvalid: Kind(_UNPROCESSABLE, "invalid_request"),
    edge.KeysUnavailable: Kind(_UNAVAILABLE, "keys_unavailable", "API keys cannot be looked up now"),
    training.ScenarioNotFound: Kind(HTTPStatus.NOT_FOUND, "scenario_not_found", "there is no such scenario"),
    training.SessionNotFound: Kind(HTTPStatus.NOT_FOUND, "session_not_found", "there is no such session"),
    training.TurnNotFound: Kind(HTTPStatus.NOT_FOUND, "turn_not_found", "the session has no such turn"),
    training.ReviewNotFound: Kind(HTTPStatus.NOT_FOUND, "review_not_found", "there is no such turn to review"),
    training.JobNotFound: Kind(HTTPStatus.NOT_FOUND, "job_not_found", "there is no such job"),
    training.TooManyQuestions: Kind(_UNPROCESSABLE, "too_many_questions", facts=("limit",)),
    training.TooManyJobs: Kind(HTTPStatus.TOO_MANY_REQUESTS, "too_many_jobs", facts=("limit",)),
    training.DrillNotFound: Kind(HTTPStatus.NOT_FOUND, "drill_not_found", "there is no such drill"),
    training.DrillInvalid: Kind(_UNPROCESSABLE, "invalid_request"),
    training.DrillClosed: Kind(_CONFLICT, "drill_closed", facts=("reason",)),
    training.DrillMoved: Kind(_CONFLICT, "drill_moved", "somebody else changed the drill; nothing was written"),
    training.SeriesNotFound: Kind(HTTPStatus.NOT_FOUND, "series_not_found", "there is no such series of drills"),
    training.ClassFileInvalid: Kind(_UNPROCESSABLE, "invalid_request"),
    training.ScenarioInvalid: Kind(_UNPROCESSABLE, "invalid_request"),
    training.KnowledgeBaseNotFound: Kind(
        HTTPStatus.NOT_FOUND, "knowledge_base_not_found", "there is no such knowledge base"
    ),
    training.DocumentNotFound: Kind(HTTPStatus.NOT_FOUND, "document_not_found", "the base has no such document"),
    training.IndexFaulty: _INTERNAL,  # of jobs, and told in their items; no request ever meets it
    training.KnowledgeInvalid: Kind(_UNPROCESSABLE, "invalid_request"),
    training.KnowledgeBaseExists: Kind(
        _CONFLICT, "knowledge_base_exists", "there is a knowledge base of this name, with another guidance"
    ),
    training.KnowledgeBaseFull: Kind(_CONFLICT, "knowledge_base_full", facts=("chunks", "limit")),
    training.DocumentBlocked: Kind(_UNPROCESSABLE, "document_blocked", facts=("chunk", "reason", "findings")),
    training.DocumentUnreadable: Kind(_UNPROCESSABLE, "document_unreadable", facts=("reason",)),
    training.SceneUnknown: Kind(_UNPROCESSABLE, "invalid_request"),
    training.TextEmpty: Kind(_UNPROCESSABLE, "text_empty"),
    training.TextTooLong: Kind(_TOO_LARGE, "text_too_long", facts=("tokens", "limit")),
    training.SessionClosed: Kind(_CONFLICT, "session_closed"),
    training.TurnLimitReached: Kind(_CONFLICT, "turn_limit_reached", facts=("limit",)),
    training.SessionBusy: Kind(_CONFLICT, "session_busy"),
    training.SessionMoved: Kind(_CONFLICT, "session_moved", "somebody else changed the session; nothing was written"),
    training.IdempotencyKeyReused: Kind(
        _UNPROCESSABLE, "idempotency_key_reused", "the Idempotency-Key was used before, with another content"
    ),
    training.IllegalTransition: Kind(_CONFLICT, "illegal_transition", facts=("state", "event")),
    # Raised for settings at start; a request that meets it met a mistake of ours.
    training.ContextImpossible: _INTERNAL,
    training.TutorUnavailable: Kind(_UNAVAILABLE, "no_replica", _NO_REPLICA),
    training.TutorAbsent: Kind(_UNAVAILABLE, "no_replica", _NOBODY_THERE),
    training.TutorFull: Kind(_UNAVAILABLE, "no_room", _NO_ROOM),
    training.PoolUnavailable: Kind(
        _UNAVAILABLE,
        "pool_unavailable",
        "the model that this work is bound to has no replica now; nothing was generated",
        facts=("tier", "model"),
    ),
    training.TutorRejected: Kind(HTTPStatus.BAD_GATEWAY, "tutor_rejected", "the model server refused the request"),
    training.TutorBroke: Kind(HTTPStatus.BAD_GATEWAY, "tutor_broke", "the reply broke off"),
    training.TurnLockUnavailable: Kind(_UNAVAILABLE, "turn_lock_unavailable", "turns cannot be locked now"),
    training.ModerationUnavailable: Kind(
        _UNAVAILABLE, "moderation_unavailable", "the rules of moderation cannot be read now; nothing goes on unchecked"
    ),
    training.RecordsUnavailable: Kind(
        _UNAVAILABLE,
        "records_unavailable",
        "the database cannot be asked now; send it again under the same Idempotency-Key",
    ),
    training.ValueUnstorable: _INTERNAL,
    training.TokenizerUnusable: _INTERNAL,
    routing.NoReplicaAvailable: Kind(_UNAVAILABLE, "no_replica", _NO_REPLICA, facts=("ready", "known")),
    routing.EngineUnreachable: Kind(HTTPStatus.BAD_GATEWAY, "engine_unreachable", "the model server was not reached"),
    routing.EngineConnectLate: Kind(HTTPStatus.BAD_GATEWAY, "engine_unreachable", "the model server was not reached"),
    routing.EngineTimedOut: Kind(HTTPStatus.GATEWAY_TIMEOUT, "engine_timed_out", "the model server stayed silent"),
    routing.EngineBusy: Kind(_UNAVAILABLE, "engine_busy", "the model server is full or draining"),
    routing.EngineRejected: Kind(HTTPStatus.BAD_GATEWAY, "tutor_rejected", "the model server refused the request"),
    routing.EngineBroke: Kind(HTTPStatus.BAD_GATEWAY, "tutor_broke", "the reply broke off"),
    routing.StreamBroken: Kind(HTTPStatus.BAD_GATEWAY, "tutor_broke", "the reply broke off"),
    routing.ModelUnknown: Kind(_UNAVAILABLE, "no_replica", _NO_REPLICA),
    routing.NoRoom: Kind(_UNAVAILABLE, "no_room", _NO_ROOM, facts=("position",)),
    routing.PinStoreUnavailable: Kind(_UNAVAILABLE, "pins_unavailable", "the pins cannot be read now"),
    routing.ReplicaUnknown: Kind(HTTPStatus.NOT_FOUND, "replica_not_found", "there is no such replica"),
    routing.ReplicaInvalid: _INTERNAL,  # replicas are added and taken out at the router, not here
    routing.ReplicaInUse: _INTERNAL,
    routing.BoardUnavailable: Kind(_UNAVAILABLE, "board_unavailable", "orders for the fleet cannot be given now"),
    routing.DecisionsUnavailable: Kind(_UNAVAILABLE, "decisions_unavailable", "the decisions cannot be read now"),
    routing.FleetSourceUnavailable: _INTERNAL,  # the last known fleet goes on; no request ever meets it
    scaling.LedgerUnavailable: Kind(_UNAVAILABLE, "plan_unavailable", _NO_PLAN),
    scaling.CalendarUnavailable: Kind(_UNAVAILABLE, "plan_unavailable", _NO_PLAN),
    # The rest is met by the controller alone, at its rounds; no request ever meets it.
    scaling.HostUnavailable: _INTERNAL,
    scaling.NotLeading: _INTERNAL,
    scaling.RoutersUnavailable: _INTERNAL,
    scaling.WeightsUnusable: _INTERNAL,
    scaling.AlarmNotHeard: _INTERNAL,
}

UNKNOWN_PATH = Kind(HTTPStatus.NOT_FOUND, "not_found", "there is nothing at this path")
WRONG_METHOD = Kind(HTTPStatus.METHOD_NOT_ALLOWED, "method_not_allowed", "this path does not take this method")
# What is no HTTP, or too much of it, never becomes a request.
HTTP_MALFORMED = Kind(HTTPStatus.BAD_REQUEST, "http_malformed", "this is no HTTP/1.1 request")
HEAD_TOO_LARGE = Kind(
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "head_too_large", "the path and the headers are too large"
)
REQUEST_LATE = Kind(HTTPStatus.REQUEST_TIMEOUT, "request_too_slow", "the request did not come to its end in time")
CONNECTIONS_FULL = Kind(_UNAVAILABLE, "too_many_connections", "this process holds as many connections as it may")
_BEFORE_REQUESTS = (HTTP_MALFORMED, HEAD_TOO_LARGE, REQUEST_LATE, CONNECTIONS_FULL)

# A turn that broke has no error of ours any more, only its stored code; one that is not known is a bad gateway.
_TURN_STATUS: Mapping[str, HTTPStatus] = {kind.code: kind.status for kind in KINDS.values()}

_DEFAULT_RETRY_S = 1.0


@dataclass(frozen=True, slots=True)
class Problem:
    """One refusal, ready to be written."""

    status: HTTPStatus
    code: str
    detail: str
    members: Mapping[str, Member]
    retry_after_s: float | None = None
    challenge: str = 'Bearer realm="drillyard"'
    """How to sign in (RFC 6750), told with a 401."""
    standing: Sequence[edge.QuotaLeft] = ()
    """The account's quotas, where one of them is the reason."""

    def body(self) -> dict[str, Member]:
        return {
            "type": f"urn:drillyard:problem:{self.code}",
            "title": self.code.replace("_", " ").capitalize(),
            "status": int(self.status),
            "detail": self.detail,
            "code": self.code,
            **self.members,
        }

    def headers(self) -> dict[str, str]:
        headers = dict(limit_headers(self.standing))
        if self.retry_after_s is not None:
            headers["Retry-After"] = str(max(1, math.ceil(self.retry_after_s)))
        if self.status is HTTPStatus.UNAUTHORIZED:
            headers["WWW-Authenticate"] = self.challenge
        return headers


def problem(error: Exception) -> Problem:
    """The problem that an error of ours is; one that is nobody's is an internal error and tells nothing."""
    if isinstance(
        error,
        edge.FieldInvalid
        | training.ScenarioInvalid
        | training.KnowledgeInvalid
        | training.SceneUnknown
        | training.DrillInvalid,
    ):
        return invalid([(error.field, error.detail)])
    if isinstance(error, edge.PhraseListInvalid | training.ClassFileInvalid):
        return invalid(error.faults)
    kind = _kind(type(error))
    members: dict[str, Member] = {name: getattr(error, name) for name in kind.facts}
    retry_after_s = getattr(error, "retry_after_s", _DEFAULT_RETRY_S if kind.status is _UNAVAILABLE else None)
    found = Problem(kind.status, kind.code, kind.detail or _words(error), members, retry_after_s)
    if isinstance(error, edge.AccountLimitReached):
        return replace(found, standing=error.standing)
    if isinstance(error, edge.CredentialInvalid):
        return replace(found, challenge=f'{found.challenge}, error="invalid_token"')
    return found


def plain(kind: Kind) -> Problem:
    return Problem(kind.status, kind.code, kind.detail or "", {})


def invalid(faults: Sequence[tuple[str, str]]) -> Problem:
    """A request some fields of which cannot be taken: each with the reason."""
    listed = [{"field": name, "detail": detail} for name, detail in faults]
    first = f"{listed[0]['field']}: {listed[0]['detail']}"
    more = f" (and {len(listed) - 1} more)" if len(listed) > 1 else ""
    return Problem(_UNPROCESSABLE, "invalid_request", first + more, {"errors": listed})


def failed_turn(turn: int, code: str, detail: str, *, retryable: bool) -> Problem:
    """A turn that broke after it had begun, for a caller who waited for its end."""
    status = _TURN_STATUS.get(code, HTTPStatus.BAD_GATEWAY)
    members: dict[str, Member] = {"retryable": retryable, "turn": turn}
    return Problem(status, code, detail, members, _DEFAULT_RETRY_S if retryable else None)


def codes() -> dict[str, set[HTTPStatus]]:
    """Every code a caller may get, with its statuses."""
    found: dict[str, set[HTTPStatus]] = {code: {HTTPStatus.BAD_GATEWAY} for code in ("turn_failed", "turn_lost")}
    for kind in chain(KINDS.values(), (UNKNOWN_PATH, WRONG_METHOD, *_BEFORE_REQUESTS, _INTERNAL)):
        found.setdefault(kind.code, set()).add(kind.status)
    return found


def _kind(error: type[Exception]) -> Kind:
    return next((KINDS[ancestor] for ancestor in error.__mro__ if ancestor in KINDS), _INTERNAL)


def _words(error: Exception) -> str:
    return str(error) or (type(error).__doc__ or type(error).__name__).strip()
