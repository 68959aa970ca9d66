"""Who asks, and whether the role may; a route names the action, and nothing of the request is looked at before."""

from typing import Annotated

from fastapi import Depends
from starlette.requests import Request
from typing_extensions import override

from gateway.api.request_facts import facts_of
from gateway.api.request_services import services_of
from gateway.domain.access import Action, PresentedKey, Principal, Role, bearer, presented, principal
from gateway.domain.token_text import looks_like_a_token
from gateway.errors import CredentialInvalid, Unauthenticated
from sessions.domain.viewer import AccountId, TenantId, Viewer

_CALLER = "drillyard.caller"
_LONGEST_TICKET = 128
_NO_TICKET = "the ticket is not valid"


async def authenticated(request: Request) -> Principal:
    """By a key or a token. Raises `Unauthenticated`, `NotEnrolled`, `SignInUnavailable` or `KeysUnavailable`."""
    headers = request.headers.getlist("authorization")
    if len(headers) > 1:
        raise Unauthenticated("there is more than one Authorization header")
    authorization = headers[0] if headers else None
    token = bearer(authorization)
    if looks_like_a_token(token):
        facts_of(request.scope).auth = "token"
        return _seen(request, await services_of(request).access.tokens.principal(token))
    return _seen(request, await _by_key(request, presented(authorization)))


async def _by_key(request: Request, shown: PresentedKey) -> Principal:
    facts_of(request.scope).auth = "key"
    services = services_of(request)
    caller = principal(shown, await services.access.keys.find(shown.id), now=services.clock())
    services.access.uses.saw(shown.id)
    return caller


async def _by_ticket(request: Request, tickets: list[str]) -> Principal:
    """Once, and for the very turn that it was given for."""
    facts_of(request.scope).auth = "ticket"
    if len(tickets) > 1 or len(tickets[0]) > _LONGEST_TICKET or "authorization" in request.headers:
        raise CredentialInvalid(_NO_TICKET)
    grant = await services_of(request).access.tickets.redeem(tickets[0])
    asked = (request.path_params["session_id"].lower(), request.path_params["turn"])
    if grant is None or (str(grant.session), str(grant.turn)) != asked:
        raise CredentialInvalid(_NO_TICKET)
    return _seen(request, Principal(grant.tenant, grant.account, Role.TRAINEE))


def _seen(request: Request, caller: Principal) -> Principal:
    facts = facts_of(request.scope)
    facts.tenant, facts.account, facts.role = str(caller.tenant), str(caller.account), str(caller.role)
    request.scope[_CALLER] = caller
    return caller


class Door:
    """Lets in who may do this, as the viewer that sessions know."""

    def __init__(self, action: Action) -> None:
        self.action = action

    async def __call__(self, request: Request) -> Viewer:
        return self._admitted(await authenticated(request))

    def _admitted(self, caller: Principal) -> Viewer:
        caller.must(self.action)
        return Viewer(TenantId(caller.tenant), AccountId(caller.account), caller.sees_all(self.action))


class StreamDoor(Door):
    """A ticket in the query opens it too, since a page's EventSource can send no header."""

    @override
    async def __call__(self, request: Request) -> Viewer:
        tickets = request.query_params.getlist("ticket")
        return self._admitted(await (_by_ticket(request, tickets) if tickets else authenticated(request)))


def caller_of(request: Request) -> Principal:
    """Who asked, of a request that a door has let in."""
    caller: Principal = request.scope[_CALLER]
    return caller


DrillWriter = Annotated[Viewer, Depends(Door(Action.WRITE_DRILLS))]
DrillReader = Annotated[Viewer, Depends(Door(Action.READ_DRILLS))]
LimitReader = Annotated[Viewer, Depends(Door(Action.READ_LIMITS))]
LimitSetter = Annotated[Viewer, Depends(Door(Action.SET_LIMITS))]
ScenarioWriter = Annotated[Viewer, Depends(Door(Action.WRITE_SCENARIOS))]
ScenarioReader = Annotated[Viewer, Depends(Door(Action.READ_SCENARIOS))]
KnowledgeWriter = Annotated[Viewer, Depends(Door(Action.WRITE_KNOWLEDGE))]
KnowledgeReader = Annotated[Viewer, Depends(Door(Action.READ_KNOWLEDGE))]
SessionStarter = Annotated[Viewer, Depends(Door(Action.START_SESSIONS))]
SessionReader = Annotated[Viewer, Depends(Door(Action.READ_SESSIONS))]
SceneChanger = Annotated[Viewer, Depends(Door(Action.CHANGE_SCENES))]
SessionCloser = Annotated[Viewer, Depends(Door(Action.CLOSE_SESSIONS))]
TurnTaker = Annotated[Viewer, Depends(Door(Action.TAKE_TURNS))]
TurnFollower = Annotated[Viewer, Depends(StreamDoor(Action.TAKE_TURNS))]
ContextReader = Annotated[Viewer, Depends(Door(Action.READ_CONTEXT))]
TurnReviewer = Annotated[Viewer, Depends(Door(Action.REVIEW_TURNS))]
FleetReader = Annotated[Viewer, Depends(Door(Action.READ_FLEET))]
FleetOrderer = Annotated[Viewer, Depends(Door(Action.ORDER_FLEET))]
TierReader = Annotated[Viewer, Depends(Door(Action.READ_MODEL_TIERS))]
ModelChooser = Annotated[Viewer, Depends(Door(Action.CHOOSE_MODELS))]
KeyManager = Annotated[Viewer, Depends(Door(Action.MANAGE_KEYS))]
ModerationReader = Annotated[Viewer, Depends(Door(Action.READ_MODERATION))]
ModerationWriter = Annotated[Viewer, Depends(Door(Action.WRITE_MODERATION))]
TextChecker = Annotated[Viewer, Depends(Door(Action.CHECK_TEXTS))]
JobRunner = Annotated[Viewer, Depends(Door(Action.RUN_JOBS))]
