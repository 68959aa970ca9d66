"""Request bodies as vLLM takes and refuses them: fields, their limits, and the words of each refusal."""

import json
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from loadtests.simulator.body_rules import check_across
from loadtests.simulator.domain.replies import Said
from loadtests.simulator.errors import Refused, Unparsable, bad_request, malformed

Model = TypeVar("Model", bound=BaseModel)

_SHOWN_ERRORS = 10
_OTHER_SENSES = frozenset({"image_url", "input_image", "input_audio", "audio_url", "video_url", "image_embeds", "file"})
_WRONG_TYPE = "1 validation error:\n  Unsupported Media Type: Only 'application/json' is allowed"
_UNTRUSTED = (
    "Chat template is passed with request, but --trust-request-chat-template is not set. "
    "Refused request with untrusted chat template."
)
_NO_TOOLS = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'


class StreamOptions(BaseModel):
    include_usage: bool | None = None
    continuous_usage_stats: bool | None = None


class JsonSchema(BaseModel):
    name: str
    content: dict[str, Any] | None = Field(default=None, alias="schema")


class ResponseFormat(BaseModel):
    type: Literal["text", "json_object", "json_schema", "structural_tag"]
    json_schema: JsonSchema | None = None


class StructuredOutputs(BaseModel):
    choice: list[str] | None = None
    regex: str | None = None
    json_: dict[str, Any] | str | None = Field(default=None, alias="json")


class Sampling(BaseModel):
    """What chats and completions have in common; fields that are not here are taken and ignored, as vLLM does."""

    model_config = ConfigDict(extra="allow", frozen=True)

    model: str | None = None
    max_tokens: int | None = None
    min_tokens: int = 0
    n: int = 1
    temperature: float | None = None
    top_p: float | None = None
    stop: str | Annotated[list[str], Field(max_length=4)] | None = None
    stop_token_ids: list[int] | None = None
    include_stop_str_in_output: bool = False
    ignore_eos: bool = False
    seed: int | None = None
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    stream_interval: int | None = Field(default=None, ge=1)
    cache_salt: str | None = None
    priority: int = 0
    request_id: str | None = None
    session_id: str | None = None
    return_token_ids: bool | None = None
    truncate_prompt_tokens: int | None = Field(default=None, ge=-1)
    top_k: int | None = None
    min_p: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    repetition_penalty: float | None = None
    logit_bias: dict[str, float] | None = None
    prompt_logprobs: int | None = None
    response_format: ResponseFormat | None = None
    structured_outputs: StructuredOutputs | None = None

    @property
    def stops(self) -> tuple[str, ...]:
        return (self.stop,) if isinstance(self.stop, str) else tuple(self.stop or ())


class ChatBody(Sampling):
    messages: list[dict[str, Any]]
    max_completion_tokens: int | None = None
    add_generation_prompt: bool = True
    continue_final_message: bool = False
    echo: bool = False
    logprobs: bool | None = False
    top_logprobs: int | None = 0
    chat_template: str | None = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: Any = None


class CompletionBody(Sampling):
    prompt: list[int] | list[list[int]] | str | list[str] | None = None
    max_tokens: int | None = 16
    echo: bool | None = False
    logprobs: int | None = None
    suffix: str | None = None


class TokenizeBody(BaseModel):
    model: str | None = None
    prompt: str | None = None
    messages: list[dict[str, Any]] | None = None
    add_generation_prompt: bool = True
    continue_final_message: bool = False
    return_token_strs: bool | None = False


class DetokenizeBody(BaseModel):
    model: str | None = None
    tokens: list[int]


def read(kind: type[Model], raw: bytes, *, content_type: str) -> Model:
    """Check in vLLM's order: media type, JSON, rules across fields, fields."""
    if content_type.partition(";")[0].strip().lower() != "application/json":
        raise malformed(_WRONG_TYPE, param=None)
    try:
        content = json.loads(raw) if raw else None
    except json.JSONDecodeError as error:
        raise _not_json(error.msg, error.pos) from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise Unparsable from error
    if content is None:
        raise malformed(_one("missing", "body", "Field required", None), param="body")
    if isinstance(content, dict):
        check_across(content)
    try:
        return kind.model_validate(content, from_attributes=True)
    except ValidationError as error:
        raise _misfit(error.errors(include_url=False)) from error


def check_model(name: str | None, served: str) -> None:
    if name and name != served:
        message = f"The model `{name}` does not exist. Valid aliases: {served}."
        raise Refused(message, status=HTTPStatus.NOT_FOUND, kind="NotFoundError", param="model")


def check_chat(body: ChatBody) -> None:
    if body.chat_template is not None:
        raise bad_request(_UNTRUSTED)
    if body.tools and body.tool_choice in (None, "auto"):
        raise bad_request(_NO_TOOLS)
    if body.tools and body.tool_choice == "required":
        raise bad_request('tool_choice="required" requires --tool-call-parser to be set')


def conversation_of(messages: Iterable[Mapping[str, Any]], *, model: str) -> list[Said]:
    """Parts of text are joined by line ends; anything else in a message needs another model."""
    return [Said(_role(message, place), _content(message, place, model)) for place, message in enumerate(messages)]


def _role(message: Mapping[str, Any], place: int) -> str:
    role = message.get("role")
    if not isinstance(role, str):
        raise malformed(
            _one("missing", f"body.messages.{place}.role", "Field required", message), param="body.messages"
        )
    # A developer is nobody to most templates, and speaks as the system.
    return "system" if role == "developer" else role


def _content(message: Mapping[str, Any], place: int, model: str) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    if content is None and ("content" not in message or message.get("role") == "assistant"):
        return ""
    if not isinstance(content, list):
        where = f"body.messages.{place}.content"
        raise malformed(_one("string_type", where, "Input should be a valid string", content), param=where)
    texts = []
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind in _OTHER_SENSES:
            raise bad_request(f"{model} is not a multimodal model")
        text = part.get("text") if isinstance(part, dict) and kind in ("text", "input_text", None) else part
        if not isinstance(text, str):
            raise bad_request(f"Part of message {place} is no text.")
        texts.append(text)
    return "\n".join(texts)


def neither_field(*names: str, given: int) -> Refused:
    """One of several fields must be there."""
    told = [
        {"type": "missing", "loc": f"body.{name}", "msg": "Field required", "input": f"<dict of {given} items>"}
        for name in names
    ]
    lines = "\n  ".join(map(str, told))
    return malformed(f"{len(told)} validation errors:\n  {lines}", param=f"body.{names[0]}")


def _not_json(message: str, place: int) -> Refused:
    told = {
        "type": "json_invalid",
        "loc": f"body.{place}",
        "msg": "JSON decode error",
        "input": "<dict of 0 items>",
        "ctx": {"error": message},
    }
    return malformed(f"1 validation error:\n  {told}", param=f"body.{place}")


def _misfit(errors: list[ErrorDetails]) -> Refused:
    told = [_told(error) for error in errors]
    lines = [str(one) for one in told[:_SHOWN_ERRORS]]
    if len(told) > _SHOWN_ERRORS:
        lines.append(f"...and {len(told) - _SHOWN_ERRORS} more errors")
    noun = "error" if len(told) == 1 else "errors"
    return malformed("\n  ".join([f"{len(told)} validation {noun}:", *lines]), param=str(told[0]["loc"]))


def _one(kind: str, where: str, message: str, given: object) -> str:
    told = {"type": kind, "loc": where, "msg": message, "input": _shown(given)}
    return f"1 validation error:\n  {told}"


def _told(error: ErrorDetails) -> dict[str, object]:
    # pydantic names the branch of a union as if it were a field; vLLM leaves plain types out.
    steps = [str(step) for step in error["loc"] if step not in ("str",) and "[" not in str(step)]
    told: dict[str, object] = {
        "type": error["type"],
        "loc": ".".join(["body", *steps]),
        "msg": error["msg"],
        "input": _shown(error["input"]),
    }
    if context := error.get("ctx"):
        told["ctx"] = context
    return told


def _shown(given: object) -> str:
    if isinstance(given, dict):
        return f"<dict of {len(given)} items>"
    if isinstance(given, list):
        return f"<list of {len(given)} items>"
    return str(given)
