"""Who asks, and whether the role may; a route names the action, and nothing of the request is looked at before."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from gateway.api.request_facts import facts_of
from gateway.api.request_services import services_of
from gateway.domain.access import Action, Principal, presented, principal
from gateway.errors import Unauthenticated
from sessions.domain.viewer import AccountId, TenantId, Viewer


async def authenticated(request: Request) -> Principal:
    """Raises `Unauthenticated` or `KeysUnavailable`."""
    services = services_of(request)
    headers = request.headers.getlist("authorization")
    if len(headers) > 1:
        raise Unauthenticated("there is more than one Authorization header")
    shown = presented(headers[0] if headers else None)
    caller = principal(shown, await services.keys.find(shown.id), now=services.clock())
    facts = facts_of(request.scope)
    facts.tenant, facts.account = str(caller.tenant), str(caller.account)
    return caller


def viewer_for(action: Action) -> Callable[[Request], Awaitable[Viewer]]:
    """Lets in who may do this, as the viewer that sessions know."""

    async def allowed(request: Request) -> Viewer:
        caller = await authenticated(request)
        caller.must(action)
        return Viewer(TenantId(caller.tenant), AccountId(caller.account), caller.sees_all)

    return allowed


ScenarioWriter = Annotated[Viewer, Depends(viewer_for(Action.WRITE_SCENARIOS))]
ScenarioReader = Annotated[Viewer, Depends(viewer_for(Action.READ_SCENARIOS))]
KnowledgeWriter = Annotated[Viewer, Depends(viewer_for(Action.WRITE_KNOWLEDGE))]
KnowledgeReader = Annotated[Viewer, Depends(viewer_for(Action.READ_KNOWLEDGE))]
SessionStarter = Annotated[Viewer, Depends(viewer_for(Action.START_SESSIONS))]
SessionReader = Annotated[Viewer, Depends(viewer_for(Action.READ_SESSIONS))]
SceneChanger = Annotated[Viewer, Depends(viewer_for(Action.CHANGE_SCENES))]
SessionCloser = Annotated[Viewer, Depends(viewer_for(Action.CLOSE_SESSIONS))]
TurnTaker = Annotated[Viewer, Depends(viewer_for(Action.TAKE_TURNS))]
ContextReader = Annotated[Viewer, Depends(viewer_for(Action.READ_CONTEXT))]
FleetReader = Annotated[Viewer, Depends(viewer_for(Action.READ_FLEET))]
FleetOrderer = Annotated[Viewer, Depends(viewer_for(Action.ORDER_FLEET))]
TierReader = Annotated[Viewer, Depends(viewer_for(Action.READ_MODEL_TIERS))]
ModelChooser = Annotated[Viewer, Depends(viewer_for(Action.CHOOSE_MODELS))]
JobRunner = Annotated[Viewer, Depends(viewer_for(Action.RUN_JOBS))]
