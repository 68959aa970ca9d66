"""The description of the API that it serves about itself: what we read ourselves has to be added by hand."""

from typing import Any

from fastapi import FastAPI
from pydantic.json_schema import models_json_schema
from typing_extensions import override

from gateway.api.drill_bodies import DrillSeriesBody
from gateway.api.fleet_plan_views import ScaleBody
from gateway.api.limit_views import OwnLimitsBody, TenantLimitsBody
from gateway.api.moderation_bodies import CheckBody, DryRunBody, LiveBody, ModerationSettingsBody
from gateway.api.phrase_list_body import ListVersionBody, PhraseListBody
from gateway.api.requests import (
    DocumentBody,
    DrainBody,
    DrillBody,
    KeyBody,
    KnowledgeBaseBody,
    QuestionsBody,
    ScenarioBody,
    SceneChangeBody,
    SessionBody,
    TurnBody,
)
from gateway.api.review_bodies import DecisionBody
from gateway.api.views import ProblemView

_ADDED = (
    KeyBody,
    KnowledgeBaseBody,
    DocumentBody,
    ScenarioBody,
    SessionBody,
    SceneChangeBody,
    TurnBody,
    QuestionsBody,
    DrainBody,
    ScaleBody,
    DrillBody,
    DrillSeriesBody,
    OwnLimitsBody,
    TenantLimitsBody,
    PhraseListBody,
    ListVersionBody,
    LiveBody,
    CheckBody,
    DryRunBody,
    ModerationSettingsBody,
    DecisionBody,
    ProblemView,
)
_BY_KEY: list[dict[str, list[str]]] = [{"key": []}]


class Api(FastAPI):
    @override
    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            self.openapi_schema = _completed(super().openapi())
        return self.openapi_schema


def _completed(schema: dict[str, Any]) -> dict[str, Any]:
    _, added = models_json_schema(
        [(model, "validation") for model in _ADDED], ref_template="#/components/schemas/{model}"
    )
    components = schema.setdefault("components", {})
    components.setdefault("schemas", {}).update(added["$defs"])
    described = {"type": "http", "scheme": "bearer", "description": "an API key, or a token of an identity provider"}
    components["securitySchemes"] = {"key": described}
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            if path.startswith("/v1/"):
                operation["security"] = _BY_KEY
    return schema
