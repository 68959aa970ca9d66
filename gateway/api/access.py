"""Who asks, and whether the role may; a route names the action, and nothing of the request is looked at before."""

from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from gateway.api.request_facts import facts_of
from gateway.api.request_services import services_of
from gateway.domain.access import Action, Principal, presented, principal
from gateway.errors import Unauthenticated
from sessions.domain.viewer import AccountId, TenantId, Viewer

_CALLER = "drillyard.caller"


async def authenticated(request: Request) -> Principal:
    """Raises `Unauthenticated` or `KeysUnavailable`."""
    services = services_of(request)
    headers = request.headers.getlist("authorization")
    if len(headers) > 1:
        raise Unauthenticated("there is more than one Authorization header")
    shown = presented(headers[0] if headers else None)
    caller = principal(shown, await services.keys.find(shown.id), now=services.clock())
    facts = facts_of(request.scope)
    facts.tenant, facts.account, facts.role = str(caller.tenant), str(caller.account), str(caller.role)
    request.scope[_CALLER] = caller
    return caller


class Door:
    """Lets in who may do this, as the viewer that sessions know."""

    def __init__(self, action: Action) -> None:
        self.action = action

    async def __call__(self, request: Request) -> Viewer:
        caller = await authenticated(request)
        caller.must(self.action)
        return Viewer(TenantId(caller.tenant), AccountId(caller.account), caller.sees_all(self.action))


def caller_of(request: Request) -> Principal:
    """Who asked, of a request that a door has let in."""
    caller: Principal = request.scope[_CALLER]
    return caller


ScenarioWriter = Annotated[Viewer, Depends(Door(Action.WRITE_SCENARIOS))]
ScenarioReader = Annotated[Viewer, Depends(Door(Action.READ_SCENARIOS))]
KnowledgeWriter = Annotated[Viewer, Depends(Door(Action.WRITE_KNOWLEDGE))]
KnowledgeReader = Annotated[Viewer, Depends(Door(Action.READ_KNOWLEDGE))]
SessionStarter = Annotated[Viewer, Depends(Door(Action.START_SESSIONS))]
SessionReader = Annotated[Viewer, Depends(Door(Action.READ_SESSIONS))]
SceneChanger = Annotated[Viewer, Depends(Door(Action.CHANGE_SCENES))]
SessionCloser = Annotated[Viewer, Depends(Door(Action.CLOSE_SESSIONS))]
TurnTaker = Annotated[Viewer, Depends(Door(Action.TAKE_TURNS))]
ContextReader = Annotated[Viewer, Depends(Door(Action.READ_CONTEXT))]
FleetReader = Annotated[Viewer, Depends(Door(Action.READ_FLEET))]
FleetOrderer = Annotated[Viewer, Depends(Door(Action.ORDER_FLEET))]
TierReader = Annotated[Viewer, Depends(Door(Action.READ_MODEL_TIERS))]
ModelChooser = Annotated[Viewer, Depends(Door(Action.CHOOSE_MODELS))]
JobRunner = Annotated[Viewer, Depends(Door(Action.RUN_JOBS))]
