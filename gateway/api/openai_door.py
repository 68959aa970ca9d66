"""Who may ask models without a scenario."""

from dataclasses import replace
from typing import Annotated

from fastapi import Depends
from starlette.requests import Request
from typing_extensions import override

from gateway.api.access import Door, authenticated
from gateway.api.request_services import services_of
from gateway.domain.access import Action, Principal, Role
from sessions.domain.viewer import AccountId, TenantId, Viewer


class ChatDoor(Door):
    """As the table says; and trainees too where the settings let them, since raw access to a model leads around every
    scenario.
    """

    @override
    async def __call__(self, request: Request) -> Viewer:
        caller = await authenticated(request)
        _as_let_in(caller, trainees=services_of(request).settings.openai.trainees).must(self.action)
        return Viewer(TenantId(caller.tenant), AccountId(caller.account), caller.sees_all(self.action))


def _as_let_in(caller: Principal, *, trainees: bool) -> Principal:
    """A trainee is looked at as a service where the settings say so; a key's scopes hold all the same."""
    if trainees and Role.TRAINEE in caller.roles:
        return replace(caller, further=caller.further | {Role.SERVICE})
    return caller


ChatUser = Annotated[Viewer, Depends(ChatDoor(Action.COMPLETE_CHATS))]
