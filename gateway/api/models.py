"""GET /v1/models: what may stand in a chat completion as its model, in OpenAI's shape."""

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from gateway.api.access import caller_of
from gateway.api.answers import answer
from gateway.api.openai_documented import REFUSALS
from gateway.api.openai_door import ChatUser
from gateway.api.query import query_of
from gateway.api.request_services import services_of
from gateway.api.requests import NoQuery
from gateway.openai_chats import ChatModel

routes = APIRouter(tags=["openai"])

_SINCE = 1_767_225_600
"""OpenAI tells when a model was made, which nobody knows here; so it is always the same moment."""


class ModelView(BaseModel):
    id: str
    object: str = "model"
    created: int = _SINCE
    owned_by: str = "drillyard"
    root: str
    """The model itself, where `id` is a kind of work."""
    max_model_len: int
    """Tokens of messages and reply together."""

    @classmethod
    def of(cls, name: str, model: ChatModel) -> "ModelView":
        return cls(id=name, root=model.name, max_model_len=model.window_tokens)


class ModelListView(BaseModel):
    object: str = "list"
    data: list[ModelView]


@routes.get("/v1/models", response_model=ModelListView, responses=REFUSALS)
async def list_models(request: Request, _: ChatUser) -> Response:
    query_of(request, NoQuery)
    return answer(ModelListView(data=[ModelView.of(model.name, model) for model in services_of(request).chats.models]))


@routes.get("/v1/models/{model:path}", response_model=ModelView, responses=REFUSALS)
async def read_model(request: Request, _: ChatUser, model: str) -> Response:
    """Also of a kind of work: which model does it now for the caller's tenant."""
    query_of(request, NoQuery)
    return answer(ModelView.of(model, await services_of(request).chats.model(caller_of(request), model)))
