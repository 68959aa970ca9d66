"""Renders a model's chat template to the very string the engine makes of the same messages."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Never

from jinja2 import TemplateError, nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from typing_extensions import override

from sessions.domain.prompt import Message

# A prompt must not change from day to day: templates that ask for the date all get this one, which is as long as any.
# It is what Llama 3's template writes where nobody tells it a date.
_DATE = datetime(2024, 7, 26, tzinfo=UTC)
_DATE_ARGUMENT = "date_string"

# A template is code that others wrote: beside Jinja's own errors, those of its arithmetic and look-ups.
_OF_TEMPLATES = (TemplateError, TypeError, ValueError, ArithmeticError, LookupError)


class TemplateBroken(Exception):
    """The template is not Jinja, or it refuses the messages."""


class _Generation(Extension):
    """Some templates mark the assistant's part with `{% generation %}`, for training; it prints what is inside."""

    tags = {"generation"}  # noqa: RUF012 - declared so by Jinja

    @override
    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class ChatTemplate:
    """`tokens` are the names a template may use for special tokens, such as `bos_token`."""

    def __init__(self, source: str, *, tokens: Mapping[str, str]) -> None:
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols]
        )
        environment.filters["tojson"] = _tojson
        environment.globals["raise_exception"] = _raise_exception
        environment.globals["strftime_now"] = _DATE.strftime
        self._tokens = dict(tokens)
        try:
            names = {name.name for name in environment.parse(source).find_all(nodes.Name)}
            self._template = environment.from_string(source)
        except TemplateError as error:
            raise TemplateBroken(str(error)) from error
        self.arguments = {_DATE_ARGUMENT: _DATE.strftime("%d %b %Y")} if _DATE_ARGUMENT in names else {}
        """What the engine must be told with each request so that it renders the same."""
        self.writes_today = "strftime_now" in names and not self.arguments
        """Whether the engine will write each day's date into the prompt, which nobody can keep it from."""

    def render(self, messages: Sequence[Message]) -> str:
        """The prompt, up to the place where the reply begins."""
        return self.render_chat([{"role": str(message.role), "content": message.content} for message in messages])

    def render_chat(self, messages: Sequence[Mapping[str, object]], tools: object = None) -> str:
        """The same of messages as OpenAI's API has them, which may hold calls of tools and their results."""
        try:
            return self._template.render(
                messages=[_with_read_arguments(message) for message in messages],
                tools=tools,
                documents=None,
                add_generation_prompt=True,
                **self._tokens,
                **self.arguments,
            )
        except _OF_TEMPLATES as error:
            raise TemplateBroken(str(error)) from error


def _with_read_arguments(message: Mapping[str, object]) -> Mapping[str, object]:
    """The engine reads the arguments of a tool's call before the template sees them."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return message
    return {**message, "tool_calls": [_read(call) for call in calls]}


def _read(call: Mapping[str, Any]) -> Mapping[str, Any]:
    function = call["function"]
    try:
        arguments = json.loads(function["arguments"] or "{}")
    except ValueError as error:
        raise TemplateBroken("the arguments of a tool's call are not JSON") from error
    return {**call, "function": {**function, "arguments": arguments}}


def _raise_exception(message: str) -> Never:
    raise TemplateError(message)


def _tojson(value: object, indent: int | None = None) -> str:
    """Jinja's own filter escapes for HTML, which a prompt is not."""
    return json.dumps(value, ensure_ascii=False, indent=indent)
