"""/sessions and /decisions: ending a session, warming it up, and why its turns ran where they did."""

from collections.abc import Mapping
from typing import Protocol

from router.domain.decision import Decision
from router.domain.decision_json import decision_to_json
from router.domain.exchange import Call, CallPath
from router.domain.fleet import AffinityKey
from router.domain.pin import Pin
from router.http.answer import Answer, told
from router.http.errors import NotFound, RequestInvalid
from router.http.routes import ANY, Caller, Request, Route
from router.http.wish import request_id_of, session_key, wish_of


class SessionKeeper(Protocol):
    """What of the router knows sessions."""

    async def pins(self, key: AffinityKey) -> Mapping[str, Pin]: ...

    async def end(self, key: AffinityKey) -> None: ...

    async def prewarm_call(self, key: AffinityKey, call: Call) -> bool: ...

    async def decision(self, request_id: str) -> Decision | None: ...


class SessionRoutes:
    def __init__(self, router: SessionKeeper) -> None:
        self._router = router

    def routes(self) -> tuple[Route, ...]:
        prewarm = ("sessions", ANY, "prewarm")
        return (
            Route(prewarm, Caller.CLIENT, {"POST": self._prewarm}),
            Route(("sessions", ANY), Caller.CLIENT, {"DELETE": self._end, "GET": self._read}),
            Route(("decisions", ANY), Caller.OPERATOR, {"GET": self._decision}),
        )

    async def _read(self, request: Request) -> Answer:
        pins = await self._router.pins(_session(request))
        return told(
            {
                "pins": [
                    {"model": model, "replica": pin.replica, "generation": pin.generation}
                    for model, pin in sorted(pins.items())
                ]
            }
        )

    async def _end(self, request: Request) -> Answer:
        await self._router.end(_session(request))
        return Answer(204)

    async def _prewarm(self, request: Request) -> Answer:
        wish = wish_of(request.body)
        if wish.model is None:
            raise RequestInvalid("model is needed", param="model")
        call = Call(
            path=CallPath.CHAT,
            body=request.body,
            model=wish.model,
            is_streamed=wish.is_streamed,
            request_id=request_id_of(request.headers) or "http",
        )
        return told({"scheduled": await self._router.prewarm_call(_session(request), call)}, status=202)

    async def _decision(self, request: Request) -> Answer:
        (request_id,) = request.named
        found = await self._router.decision(request_id)
        if found is None:
            raise NotFound("nothing is kept of this request")
        return Answer(200, decision_to_json(found))


def _session(request: Request) -> AffinityKey:
    (key,) = request.named
    return session_key(key, param="session")
