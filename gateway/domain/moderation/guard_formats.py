"""Knows how guard models are asked, and reads their answers. What does not begin with a verdict is no answer.

The models' own chat templates make the prompt of the conversation, so a conversation is all that is sent: the message
alone, or the message and the reply to be judged.
"""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import assert_never

from gateway.domain.moderation.guard import OTHER, Level, Ruling
from sessions.domain.neutralise import neutralised


class GuardKind(StrEnum):
    QWEN3GUARD = "qwen3guard"
    LLAMA_GUARD = "llama_guard"


QWEN_CATEGORIES = {
    "violent": "violent",
    "non_violent_illegal_acts": "non_violent_illegal_acts",
    "sexual_content_or_sexual_acts": "sexual_content",
    "pii": "personal_data",
    "personally_identifiable_information": "personal_data",
    "suicide_self_harm": "self_harm",
    "unethical_acts": "unethical_acts",
    "politically_sensitive_topics": "politically_sensitive",
    "politically_sensitive": "politically_sensitive",
    "copyright_violation": "copyright_violation",
    "jailbreak": "jailbreak",
}
LLAMA_CATEGORIES = {
    "s1": "violent_crimes",
    "s2": "non_violent_crimes",
    "s3": "sex_crimes",
    "s4": "child_exploitation",
    "s5": "defamation",
    "s6": "specialized_advice",
    "s7": "privacy",
    "s8": "intellectual_property",
    "s9": "indiscriminate_weapons",
    "s10": "hate",
    "s11": "self_harm",
    "s12": "sexual_content",
    "s13": "elections",
    "s14": "code_interpreter_abuse",
}
CATEGORIES: Mapping[GuardKind, frozenset[str]] = {
    GuardKind.QWEN3GUARD: frozenset(QWEN_CATEGORIES.values()),
    GuardKind.LLAMA_GUARD: frozenset(LLAMA_CATEGORIES.values()),
}
"""Ours for theirs, as marks tell them and settings name them."""

_FORGED = ("<|", "<BEGIN ", "<END ", "<think>", "</think>")
"""What a text could end its conversation with, and speak to the guard itself."""
_NO_MESSAGE = "(no message)"
_SAFETY = re.compile(r"[*_#\s]*safety[*_\s]*[:：][*_\s]*(safe|unsafe|controversial)[*_\s.]*", re.IGNORECASE)
_REASONS = re.compile(r"[*_#\s]*categor(?:y|ies)[*_\s]*[:：](.*)", re.IGNORECASE)
_BETWEEN = re.compile(r"[,;，、；|]")
_NO_LETTERS = re.compile(r"[^a-z0-9]+")
_LLAMA = re.compile(r"[*_\s]*(safe|unsafe)[*_\s.,:]*((?:s\d{1,2}[\s,;.]*)*)", re.IGNORECASE)
_CODES = re.compile(r"(?:s\d{1,2}[\s,;.]*)+", re.IGNORECASE)
_CODE = re.compile(r"s\d{1,2}")


def conversation(message: str, reply: str | None) -> Sequence[Mapping[str, str]]:
    """What the guard is to judge the end of: the message or, where there is one, the reply to it."""
    said = [{"role": "user", "content": _harmless(message) if message.strip() else _NO_MESSAGE}]
    if reply is not None:
        said.append({"role": "assistant", "content": _harmless(reply)})
    return said


def ruling_of(kind: GuardKind, answer: str) -> Ruling | None:
    """None: this is no answer of such a guard."""
    lines = [line.strip() for line in answer.splitlines() if line.strip()]
    if not lines:
        return None
    match kind:
        case GuardKind.QWEN3GUARD:
            return _qwen(lines)
        case GuardKind.LLAMA_GUARD:
            return _llama(lines)
        case never:
            assert_never(never)


def _harmless(text: str) -> str:
    """Without half characters either, over which a tokenizer would stumble."""
    return neutralised(text, _FORGED).encode("utf-8", "replace").decode()


def _qwen(lines: Sequence[str]) -> Ruling | None:
    if _SAFETY.fullmatch(lines[0]) is None:
        return None
    levels = {Level(found[1].lower()) for found in map(_SAFETY.fullmatch, lines) if found}
    if len(levels) > 1:
        return None
    named = [name for found in map(_REASONS.fullmatch, lines) if found for name in _BETWEEN.split(found[1])]
    return Ruling(levels.pop(), _known([_slug(name) for name in named], QWEN_CATEGORIES))


def _llama(lines: Sequence[str]) -> Ruling | None:
    first = _LLAMA.fullmatch(lines[0])
    if first is None:
        return None
    level, codes = Level(first[1].lower()), first[2]
    if len(lines) > 1 and _CODES.fullmatch(lines[1]):
        codes += lines[1]
    found = _known(_CODE.findall(codes.lower()), LLAMA_CATEGORIES)
    return None if found and level is Level.SAFE else Ruling(level, found)


def _slug(name: str) -> str:
    return _NO_LETTERS.sub("_", name.lower()).strip("_")


def _known(names: Sequence[str], known: Mapping[str, str]) -> tuple[str, ...]:
    """Each once, in their order."""
    return tuple(dict.fromkeys(known.get(name, OTHER) for name in names if name not in {"", "none"}))
