"""Reading a document that is sent: as its bytes with their type, or as a text in JSON."""

from starlette.requests import Request

from gateway.api.body import RequestInvalid, body_of, media_type_of, raw_of
from gateway.api.query import query_of
from gateway.api.request_services import services_of
from gateway.api.requests import DocumentBody, DocumentQuery
from gateway.domain.accept import JSON
from gateway.errors import UnsupportedMediaType
from sessions.domain.knowledge import MediaType
from sessions.use_cases.add_document import Upload


async def upload_of(request: Request) -> Upload:
    """Raises what is wrong with it before the body is read, where that can be told.

    A JSON body may be as long as any other: it is read on the loop that carries everybody's turns.
    """
    query = query_of(request, DocumentQuery)
    if media_type_of(request) == JSON:
        if query.name is not None:
            raise RequestInvalid([("name", "a JSON body holds the name itself")])
        body = await body_of(request, DocumentBody)
        return Upload(body.name, MediaType.TEXT, body.text.encode())
    media_type = _known(media_type_of(request))
    if query.name is None:
        raise RequestInvalid([("name", "the name of the document is missing: give it as ?name=")])
    raw = await raw_of(request, services_of(request).settings.sessions.documents.max_bytes)
    return Upload(query.name, media_type, raw)


def _known(media_type: str) -> MediaType:
    try:
        return MediaType(media_type)
    except ValueError:
        raise UnsupportedMediaType(f"a document is one of {', '.join((*MediaType, JSON))}") from None
