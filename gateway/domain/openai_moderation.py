"""A moderation as OpenAI's API asks for it, and as it answers: its categories, with ours beside them."""

from collections.abc import Sequence

from gateway.errors import FieldInvalid, ParameterUnsupported
from sessions.domain.moderation import Judgement, Verdict

MODEL = "drillyard-moderation"
MOST_INPUTS = 100
CATEGORIES = (
    "harassment",
    "harassment/threatening",
    "hate",
    "hate/threatening",
    "illicit",
    "illicit/violent",
    "self-harm",
    "self-harm/instructions",
    "self-harm/intent",
    "sexual",
    "sexual/minors",
    "violence",
    "violence/graphic",
)
_KNOWN = frozenset({"input", "model", "user"})
_WANTED = "it must be a text, a list of texts, or a list of parts of the type text"

Inputs = tuple[tuple[str, ...], ...]
"""The texts of each result."""


def asked_moderation(body: object) -> Inputs:
    """Raises `FieldInvalid` or `ParameterUnsupported`."""
    if not isinstance(body, dict):
        raise FieldInvalid("body", "it must be a JSON object")
    for name in body:
        if name not in _KNOWN:
            raise ParameterUnsupported(name[:100], is_known=False)
    if not isinstance(body.get("model", MODEL), str):
        raise FieldInvalid("model", "it must be text")
    return _inputs(body.get("input"))


def _inputs(value: object) -> Inputs:
    if isinstance(value, str):
        return ((value,),)
    if not isinstance(value, list) or not value:
        raise FieldInvalid("input", _WANTED)
    if len(value) > MOST_INPUTS:
        raise FieldInvalid("input", f"at most {MOST_INPUTS} are looked at together")
    if isinstance(value[0], str):
        return tuple((_text(item, at),) for at, item in enumerate(value))
    return (tuple(_part(item, at) for at, item in enumerate(value)),)


def _text(item: object, at: int) -> str:
    if not isinstance(item, str):
        raise FieldInvalid(f"input.{at}", _WANTED)
    return item


def _part(item: object, at: int) -> str:
    if not isinstance(item, dict) or item.get("type") != "text":
        raise FieldInvalid(f"input.{at}", "only texts are looked at" if isinstance(item, dict) else _WANTED)
    return _text(item.get("text"), at)


def moderation_answer(identity: str, found: Sequence[Judgement]) -> dict[str, object]:
    return {"id": identity, "model": MODEL, "results": [result(each) for each in found]}


def result(judgement: Judgement) -> dict[str, object]:
    """Of one text."""
    scores = dict.fromkeys(CATEGORIES, 0.0)
    for mark in judgement.marks:
        sure = 1.0 if mark.score is None else mark.score
        scores[mark.category] = max(sure, scores.get(mark.category, 0.0))
    return {
        "flagged": judgement.verdict is not Verdict.ALLOW,
        "categories": {name: name in {mark.category for mark in judgement.marks} for name in scores},
        "category_scores": scores,
        "category_applied_input_types": {name: ["text"] for name in scores},
    }
