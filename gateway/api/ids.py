"""Ids as they stand in paths and bodies. What could never be an id is answered like an id that does not exist."""

import re
from uuid import UUID

from starlette.requests import Request

from gateway.api.request_facts import facts_of
from gateway.errors import AccountNotFound, GatewayError, PhraseListNotFound
from gateway.moderation_ports import ListId
from sessions.domain.citation import DocumentId, KnowledgeBaseId
from sessions.domain.drill import DrillId, SeriesId
from sessions.domain.job import JobId
from sessions.domain.scenario import ScenarioId
from sessions.domain.session import SessionId
from sessions.errors import (
    DocumentNotFound,
    DrillNotFound,
    JobNotFound,
    KnowledgeBaseNotFound,
    ScenarioNotFound,
    SeriesNotFound,
    SessionNotFound,
    SessionsError,
)

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_NUMBER = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)

NO_TURN = 0
"""The number of no turn."""


def uuid_of(text: str) -> UUID | None:
    """Only the form we write; Python's own reader also takes braces, URNs and bare digits."""
    return UUID(text) if _UUID.fullmatch(text) else None


def scenario_id_of(text: str) -> ScenarioId:
    return ScenarioId(_known(text, ScenarioNotFound("there is no such scenario")))


def knowledge_base_id_of(text: str) -> KnowledgeBaseId:
    return KnowledgeBaseId(_known(text, KnowledgeBaseNotFound("there is no such knowledge base")))


def document_id_of(text: str) -> DocumentId:
    return DocumentId(_known(text, DocumentNotFound("the knowledge base has no such document")))


def job_id_of(text: str) -> JobId:
    return JobId(_known(text, JobNotFound("there is no such job")))


def drill_id_of(text: str) -> DrillId:
    return DrillId(_known(text, DrillNotFound("there is no such drill")))


def series_id_of(text: str) -> SeriesId:
    return SeriesId(_known(text, SeriesNotFound("there is no such series of drills")))


def account_id_of(text: str) -> UUID:
    return _known(text, AccountNotFound("there is no such account"))


def list_id_of(text: str) -> ListId:
    return ListId(_known(text, PhraseListNotFound("there is no such phrase list")))


def list_version_of(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise PhraseListNotFound("the phrase list has no such version")
    return int(text)


def session_id_of(request: Request, text: str) -> SessionId:
    found = _known(text, SessionNotFound("there is no such session"))
    facts_of(request.scope).session = str(found)
    return SessionId(found)


def turn_number_of(request: Request, text: str) -> int:
    """Whether there is such a turn is for the session to say, so that a foreign session stays hidden."""
    if not _NUMBER.fullmatch(text):
        return NO_TURN
    facts_of(request.scope).turn = int(text)
    return int(text)


def _known(text: str, missing: SessionsError | GatewayError) -> UUID:
    found = uuid_of(text)
    if found is None:
        raise missing
    return found
