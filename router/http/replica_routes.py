"""/replicas: what operators see of the fleet, and what they order of it."""

from router.domain.fleet import ReplicaId
from router.http.answer import Answer, told
from router.http.errors import RequestInvalid
from router.http.fields import fields_of, seconds_field, text_field, texts_field
from router.http.replica_view import drain_shown, shown
from router.http.routes import ANY, Caller, Request, Route
from router.orders import FleetOrders

LONGEST_DRAIN_S = 86_400.0


class ReplicaRoutes:
    def __init__(self, orders: FleetOrders) -> None:
        self._orders = orders

    def routes(self) -> tuple[Route, ...]:
        one = {"GET": self._read, "DELETE": self._remove}
        return (
            Route(("replicas",), Caller.OPERATOR, {"GET": self._list, "POST": self._add}),
            Route(("replicas", ANY), Caller.OPERATOR, one),
            Route(("replicas", ANY, "drain"), Caller.OPERATOR, {"POST": self._drain, "DELETE": self._undo}),
        )

    async def _list(self, _request: Request) -> Answer:
        return told({"replicas": [shown(status) for status in await self._orders.list()]})

    async def _read(self, request: Request) -> Answer:
        return told(shown(await self._orders.get(_named(request))))

    async def _add(self, request: Request) -> Answer:
        fields = fields_of(request.body, known=("id", "url", "models"))
        spec = await self._orders.add(
            text_field(fields, "id"), text_field(fields, "url"), texts_field(fields, "models")
        )
        return told({"id": spec.id, "url": spec.url, "models": sorted(spec.models)}, status=201)

    async def _drain(self, request: Request) -> Answer:
        within_s = seconds_field(fields_of(request.body, known=("within_s",)), "within_s", most=LONGEST_DRAIN_S)
        return told(drain_shown(await self._orders.drain(_named(request), within_s=within_s)), status=202)

    async def _undo(self, request: Request) -> Answer:
        await self._orders.undo(_named(request))
        return Answer(204)

    async def _remove(self, request: Request) -> Answer:
        force = request.query.get("force", "false")
        if force not in {"true", "false"}:
            raise RequestInvalid("force is true or false", param="force")
        await self._orders.remove(_named(request), force=force == "true")
        return Answer(204)


def _named(request: Request) -> ReplicaId:
    (replica,) = request.named
    return ReplicaId(replica)
