"""Where text stands in what an engine says in one choice: content, reasoning, refusal, calls of tools."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

Words = Mapping[str, object]
"""A choice's `delta` or `message`."""

_SAID = ("role", "content", "refusal", "reasoning_content", "reasoning")
_TEXTS = ("reasoning_content", "reasoning", "content", "refusal")
"""In the order in which models say them."""
_OF_CALLS = ("name", "arguments")
_AROUND_CALLS = ("index", "id", "type")


class Place(NamedTuple):
    member: str
    call: int = -1
    """The number of the tool call whose name or arguments it is."""


CONTENT = Place("content")


def words_of(choice: Mapping[str, object], member: str) -> dict[str, object]:
    """The choice's `delta` or `message`, with the members that OpenAI's API has, and no others: in any other form there
    could be words in them that nobody reads."""
    found = _object(choice.get(member))
    said: dict[str, object] = {}
    for name in _SAID:
        if name in found and isinstance(value := found[name], str | None):
            said[name] = value
    if isinstance(calls := found.get("tool_calls"), list):
        said["tool_calls"] = [_call(call) for call in calls if isinstance(call, dict)]
    return said


def texts_of(words: Words) -> list[tuple[Place, str]]:
    """In the order in which they are said; also those that are empty."""
    direct = ((Place(name), words.get(name)) for name in _TEXTS)
    of_calls = (
        (Place(name, number), _object(call.get("function")).get(name))
        for number, call in _calls(words)
        for name in _OF_CALLS
    )
    return [(place, text) for place, text in chain(direct, of_calls) if isinstance(text, str)]


def with_texts(words: Words, texts: Mapping[Place, str]) -> dict[str, object]:
    """The same with these texts in place of its own, and with those of them for which it has no place yet."""
    told = {name: texts.get(Place(name), text) if isinstance(text, str) else text for name, text in words.items()}
    told |= {place.member: text for place, text in texts.items() if place.call < 0 and text}
    calls = [_with_texts_of_call(number, call, texts) for number, call in _calls(words)]
    known = {number for number, _ in _calls(words)}
    further = sorted({place.call for place, text in texts.items() if place.call >= 0 and text} - known)
    calls += [_with_texts_of_call(number, {"index": number}, texts) for number in further]
    return {**told, "tool_calls": calls} if calls else told


def without_empty_calls(words: Words) -> dict[str, object]:
    """Without calls of which nothing is told."""
    if not isinstance(calls := words.get("tool_calls"), list):
        return dict(words)
    told = [call for call in calls if any(_object(call.get("function")).values())]
    rest = {name: value for name, value in words.items() if name != "tool_calls"}
    return {**rest, "tool_calls": told} if told else rest


def says_anything(words: Words) -> bool:
    """Whether it would be missed: it has text, or begins something."""
    begins = "role" in words or any("id" in call for _, call in _calls(words))
    return begins or any(text for _, text in texts_of(words))


def logprobs_told(logprobs: object, text: str) -> Mapping[str, object] | None:
    """The likelihoods of tokens that say just this text and nothing else. What else might have been said is not told:
    it could spell what may not be."""
    tokens = [_object(each) for each in _list(_object(logprobs).get("content"))]
    if not tokens or "".join(str(each.get("token")) for each in tokens) != text:
        return None
    return {"content": [{**_only(each, ("token", "logprob", "bytes")), "top_logprobs": []} for each in tokens]}


def _call(call: Words) -> Words:
    function = _object(call.get("function"))
    said = {name: text for name in _OF_CALLS if isinstance(text := function.get(name), str)}
    around = {name: value for name, value in _only(call, _AROUND_CALLS).items() if isinstance(value, str | int | None)}
    return {**around, "function": said} if "function" in call else around


def _with_texts_of_call(number: int, call: Words, texts: Mapping[Place, str]) -> dict[str, object]:
    function = dict(_object(call.get("function")))
    function |= {
        name: texts.get(place, "")
        for name in _OF_CALLS
        if texts.get(place := Place(name, number)) or isinstance(function.get(name), str)
    }
    return {**call, "function": function}


def _calls(words: Words) -> Sequence[tuple[int, Words]]:
    """In a stream they are numbered; in a whole answer they stand in their order."""
    calls = [_object(each) for each in _list(words.get("tool_calls"))]
    return [(_number(call.get("index"), at), call) for at, call in enumerate(calls)]


def _number(index: object, at: int) -> int:
    return index if isinstance(index, int) and index >= 0 else at


def _only(document: Words, names: Sequence[str]) -> dict[str, object]:
    return {name: document[name] for name in names if name in document}


def _object(value: object) -> Words:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()
