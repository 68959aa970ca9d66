"""The ASGI application: the hot path first, everything else by its table of routes."""

from collections.abc import Sequence

from router.domain.exchange import CallPath
from router.errors import RouterError
from router.http.access import Access
from router.http.answer import Answer, send_answer
from router.http.asgi import Headers, Receive, Scope, Send
from router.http.body import demand_json, read_body
from router.http.errors import ClientLost, MethodNotAllowed, RequestRefused
from router.http.generating import Generating
from router.http.problems import answer_to
from router.http.routes import Request, Route, admission, find, query_of

_GENERATING = frozenset(path.value for path in CallPath)
_WITH_BODY = frozenset(("POST", "PUT", "PATCH"))


class RouterApp:
    """The server must not ask it for lifespan events: what lives longer than a request is the wiring's."""

    def __init__(self, *, generating: Generating, routes: Sequence[Route], access: Access, body_limit: int) -> None:
        self._generating = generating
        self._routes = tuple(routes)
        self._access = access
        self._body_limit = body_limit

    def admit(self, access: Access) -> None:
        """From now on these may call."""
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        if scope["path"] not in _GENERATING:
            return await self._other(scope, receive, send, headers)
        try:
            if scope["method"] != "POST":
                raise MethodNotAllowed(("POST",))
            self._access.check_client(headers)
        except RequestRefused as error:
            return await send_answer(send, answer_to(error))
        try:
            return await self._generating.serve(scope, receive, send, headers)
        except ClientLost:
            return None

    async def _other(self, scope: Scope, receive: Receive, send: Send, headers: Headers) -> None:
        try:
            answer = await self._answered(scope, receive, headers)
        except (RequestRefused, RouterError) as error:
            answer = answer_to(error)
        except ClientLost:
            return
        await send_answer(send, answer)

    async def _answered(self, scope: Scope, receive: Receive, headers: Headers) -> Answer:
        method = scope["method"]
        found = find(self._routes, method, scope["raw_path"], admitted=admission(self._access, headers))
        body = b""
        if method in _WITH_BODY:
            demand_json(headers)
            body = await read_body(receive, headers, limit=self._body_limit)
        return await found.handler(Request(found.named, headers, query_of(scope["query_string"]), body))
