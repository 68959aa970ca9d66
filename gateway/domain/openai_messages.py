"""The messages of a chat completion as they go to the engine: checked, of text alone, and unable to forge a role."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from gateway.errors import FieldInvalid
from sessions.domain.neutralise import neutralised

ChatMessage = Mapping[str, object]

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
"""`developer` is OpenAI's newer word for it, which chat templates do not know."""
_TAKEN = frozenset({"role", "content", "name", "tool_calls", "tool_call_id"})
_LEFT_OUT = frozenset({"refusal", "annotations", "reasoning", "reasoning_content"})
"""What stands in answers and comes back with them."""
_NO_WORDS = frozenset({"role", "type"})
_LONGEST_NAME, _LONGEST_ID = 64, 256
_Words = Callable[[str], str]


def messages_of(value: object) -> tuple[ChatMessage, ...]:
    """Raises `FieldInvalid`."""
    if not isinstance(value, list) or not value:
        raise FieldInvalid("messages", "it must be a list of at least one message")
    return tuple(_message(f"messages[{place}]", each) for place, each in enumerate(value))


def texts_in(message: ChatMessage) -> list[tuple[str, str]]:
    """All that people, tools or applications may have written in it, each with the member where it stands."""
    return [(member, text) for member, value in message.items() for text in _texts(member, value)]


def with_texts_in(message: ChatMessage, texts: Sequence[str]) -> ChatMessage:
    """The same with these in place of its own, in their order."""
    following = iter(texts)
    return {name: _rewritten(name, value, lambda _: next(following)) for name, value in message.items()}


def harmless(messages: Sequence[ChatMessage], special_tokens: Sequence[str]) -> tuple[ChatMessage, ...]:
    """The same without the model's control strings, in everything that people or tools may have written."""

    def words(text: str) -> str:
        return neutralised(text, special_tokens)

    return tuple({name: _rewritten(name, value, words) for name, value in message.items()} for message in messages)


def _texts(name: str, value: object) -> Iterator[str]:
    if isinstance(value, str) and name not in _NO_WORDS:
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _texts(name, each)
    elif isinstance(value, dict):
        for inner, each in value.items():
            yield from _texts(inner, each)


def _rewritten(name: str, value: object, words: _Words) -> object:
    if isinstance(value, str):
        return value if name in _NO_WORDS else words(value)
    if isinstance(value, list):
        return [_rewritten(name, each, words) for each in value]
    if isinstance(value, dict):
        return {inner: _rewritten(inner, each, words) for inner, each in value.items()}
    return value


def _message(at: str, given: object) -> ChatMessage:
    if not isinstance(given, dict):
        raise FieldInvalid(at, "it must be an object")
    for name, value in given.items():
        if value is not None and name not in _TAKEN | _LEFT_OUT:
            raise FieldInvalid(f"{at}.{name[:_LONGEST_NAME]}", "a message has no such member here")
    role = given.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        raise FieldInvalid(f"{at}.role", f"it must be one of {', '.join(_ROLES)}")
    message: dict[str, object] = {"role": _ROLES[role], **_said(at, given, calls=role == "assistant")}
    if given.get("name") is not None:
        message["name"] = _name(f"{at}.name", given["name"])
    if role == "tool":
        message["tool_call_id"] = _name(f"{at}.tool_call_id", given.get("tool_call_id"), longest=_LONGEST_ID)
    return message


def _said(at: str, given: Mapping[str, object], *, calls: bool) -> Mapping[str, object]:
    """Only the assistant `calls` tools, and then it may say nothing beside that."""
    content, tools = given.get("content"), given.get("tool_calls")
    if tools and not calls:
        raise FieldInvalid(f"{at}.tool_calls", "only the assistant calls tools")
    if content is None and not tools:
        raise FieldInvalid(f"{at}.content", "it is needed")
    said: dict[str, object] = {"content": None if content is None else _text(f"{at}.content", content)}
    return {**said, "tool_calls": _calls(f"{at}.tool_calls", tools)} if tools else said


def _text(at: str, content: object) -> str:
    """Parts are put together as the engine does it, so that what is counted here is what it reads."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise FieldInvalid(at, "it must be text, or a list of parts")
    return "\n".join(_part(f"{at}[{place}]", each) for place, each in enumerate(content))


def _part(at: str, part: object) -> str:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind not in {"text", "refusal"}:
        raise FieldInvalid(f"{at}.type", "only parts of text can be read here: no pictures, sounds or files")
    text = part.get(kind) if isinstance(part, dict) else None
    if not isinstance(text, str):
        raise FieldInvalid(f"{at}.{kind}", "it must be text")
    return text


def _calls(at: str, calls: object) -> list[Mapping[str, object]]:
    if not isinstance(calls, list):
        raise FieldInvalid(at, "it must be a list")
    return [_call(f"{at}[{place}]", each) for place, each in enumerate(calls)]


def _call(at: str, call: object) -> Mapping[str, object]:
    function = call.get("function") if isinstance(call, dict) and call.get("type", "function") == "function" else None
    if not isinstance(call, dict) or not isinstance(function, dict):
        raise FieldInvalid(at, "it must be the call of a function")
    arguments = function.get("arguments", "")
    if not isinstance(arguments, str):
        raise FieldInvalid(f"{at}.function.arguments", "it must be text")
    name = _name(f"{at}.function.name", function.get("name"))
    return {
        "id": _name(f"{at}.id", call.get("id"), longest=_LONGEST_ID),
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def _name(at: str, value: object, *, longest: int = _LONGEST_NAME) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= longest or not value.isprintable():
        raise FieldInvalid(at, f"it must be text of 1 to {longest} printable characters")
    return value
