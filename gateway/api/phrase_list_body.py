"""Reading a body with a phrase list: megabytes, so in a thread; refused whole, with every fault and its place."""

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, Field, TypeAdapter, ValidationError
from starlette.requests import Request

from gateway.api.body import MAX_FIELD_CHARS, RequestInvalid, media_type_of, parsed, raw_of, taken
from gateway.api.ids import scenario_id_of
from gateway.api.requests import Line, Sent
from gateway.domain.accept import JSON
from gateway.domain.moderation.fault_words import told
from gateway.domain.moderation.phrases import MOST_PHRASES, Action, Fault, Phrase, Reason, Severity, Spelling
from gateway.errors import UnsupportedMediaType
from gateway.moderation_ports import ListDirection
from gateway.phrase_list_cases import MOST_FAULTS, ListContent, NewList

LIMIT_BYTES = 16_777_216
"""For 50,000 phrases, each with words of its own."""
CATEGORY = "general"

Model = TypeVar("Model", bound=BaseModel)
Item = TypeVar("Item")

_MOST_BRACKETS = 2 * MOST_PHRASES
_NOT_IN_LINES = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def _in_one_line(value: str) -> str:
    if _NOT_IN_LINES.search(value):
        raise ValueError("control characters and line breaks are not allowed")
    return value


def _shown(value: str) -> str:
    if not any(char.isprintable() and not char.isspace() for char in value):
        raise ValueError("there is nothing to see in it")
    return value


Written = Annotated[str, AfterValidator(_in_one_line)]
"""How long it may be, the rules for lists say."""
_ALLOWED: TypeAdapter[str] = TypeAdapter(Written)


class PhraseBody(Sent):
    """One rule."""

    text: Written
    id: Written | None = Field(default=None, description="by default the place in the list, from 1")
    category: Written = CATEGORY
    severity: int = Field(default=int(Severity.MEDIUM), ge=1, le=4)
    action: Literal["flag", "mask", "block"] = "block"
    spelling: Literal["plain", "leet", "pinyin"] = "plain"

    def phrase(self, place: int) -> Phrase:
        return Phrase(
            id=str(place + 1) if self.id is None else self.id,
            text=self.text,
            category=self.category,
            severity=Severity(self.severity),
            action=Action(self.action),
            spelling=Spelling(self.spelling),
        )


class ListVersionBody(Sent):
    """What a list says from a version on."""

    phrases: list[PhraseBody] = Field(description="what is looked for")
    allowed: list[Written] = Field(default=[], description="phrases that banned ones may stand in")


class PhraseListBody(ListVersionBody):
    """A list with its first version."""

    name: Annotated[Line, AfterValidator(_shown)] = Field(description="unique in the tenant, for good")
    scenario_id: str | None = Field(default=None, description="the one scenario that it is for; null: all")
    direction: Literal["both", "input", "output"] = "both"
    live: bool = Field(default=False, description="whether it is in force at once")

    def new(self, content: ListContent) -> NewList:
        """Raises `ScenarioNotFound` for what could not be a scenario's id."""
        scenario = None if self.scenario_id is None else scenario_id_of(self.scenario_id)
        return NewList(self.name, content, scenario, ListDirection(self.direction), is_live=self.live)


async def list_body_of(request: Request, model: type[Model]) -> tuple[Model, ListContent | None]:
    """The body as this model but without its phrases, and these; None where it names none and need not."""
    if media_type_of(request) != JSON:
        raise UnsupportedMediaType(f"the body must be {JSON}")
    return await asyncio.to_thread(_read, await raw_of(request, LIMIT_BYTES), model)


def _read(raw: bytes, model: type[Model]) -> tuple[Model, ListContent | None]:
    value = parsed(raw, most_brackets=_MOST_BRACKETS)
    said = _lists_of(value)
    if sum(map(len, said.values())) > MOST_PHRASES:
        raise RequestInvalid(told([Fault(Reason.TOO_MANY, MOST_PHRASES)]))
    faults: list[tuple[str, str]] = []
    phrases = tuple(_each("phrases", said.get("phrases", ()), _phrase, faults))
    allowed = tuple(_each("allowed", said.get("allowed", ()), _allowed, faults))
    body = _rest(value, said, model, faults)
    if body is None or faults:
        raise RequestInvalid(faults[:MOST_FAULTS])
    return body, ListContent(phrases, allowed) if "phrases" in said else None


def _lists_of(value: object) -> dict[str, list[object]]:
    if not isinstance(value, dict):
        return {}
    return {name: value[name] for name in ("phrases", "allowed") if isinstance(value.get(name), list)}


def _rest(
    value: object, said: dict[str, list[object]], model: type[Model], faults: list[tuple[str, str]]
) -> Model | None:
    """All but the lists that were looked at. What should be one and is none stays in it, and is refused there."""
    try:
        return taken(model, {**value, **{name: [] for name in said}} if isinstance(value, dict) else value)
    except RequestInvalid as error:
        faults += error.faults
        return None


def _each(
    name: str, items: Sequence[object], read: Callable[[object, int], Item], faults: list[tuple[str, str]]
) -> Iterator[Item]:
    """One by one: a thread that validated all of them at once would hold everybody's turns up."""
    for place, item in enumerate(items):
        try:
            yield read(item, place)
        except ValidationError as error:
            for fault in error.errors(include_url=False, include_context=False, include_input=False):
                where = ".".join(str(part) for part in (name, place, *fault["loc"]))
                faults.append((where[:MAX_FIELD_CHARS], fault["msg"].removeprefix("Value error, ")))


def _phrase(item: object, place: int) -> Phrase:
    return PhraseBody.model_validate(item).phrase(place)


def _allowed(item: object, _place: int) -> str:
    return _ALLOWED.validate_python(item, strict=True)
