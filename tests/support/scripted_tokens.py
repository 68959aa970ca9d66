"""How the scripted engine counts tokens and pretends to keep a prefix cache."""

import json
import re
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Protocol

from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Tokenizer

BLOCK_TOKENS = 16
# One token is a Chinese character or a run of other characters, each with the white space before it.
_WORD = re.compile(r"\s*[　-鿿＀-￯]|\s*[^\s　-鿿＀-￯]+|\s+")

Chat = Sequence[dict[str, str]]


class Vocabulary(Protocol):
    """Turns a conversation into the tokens of its prompt, and a reply into the pieces it is streamed in."""

    def prompt(self, messages: Chat, *, for_reply: bool = True) -> list[str]: ...

    def pieces(self, text: str) -> list[str]: ...


class Words:
    """Four tokens per message and one per word; the turn that the engine is to write costs nothing."""

    def prompt(self, messages: Chat, *, for_reply: bool = True) -> list[str]:  # noqa: ARG002
        return [
            token
            for message in messages
            for token in ("<start>", message["role"], "<text>", *self.pieces(message["content"]), "<end>")
        ]

    def pieces(self, text: str) -> list[str]:
        return _WORD.findall(text)


class RealTokens:
    """The tokenizer and chat template of a model's folder, so that the counts are those of the real engine."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        settings = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
        beside = folder / "chat_template.jinja"
        template = beside.read_text("utf-8") if beside.exists() else settings["chat_template"]
        jinja = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, autoescape=False)
        self._template = jinja.from_string(template)
        self._names = {name: _name(settings.get(name)) for name in ("bos_token", "eos_token")}

    def prompt(self, messages: Chat, *, for_reply: bool = True) -> list[str]:
        text = self._template.render(messages=messages, add_generation_prompt=for_reply, **self._names)
        return [str(token) for token in self._tokenizer.encode(text, add_special_tokens=False).ids]

    def pieces(self, text: str) -> list[str]:
        """Whole characters only: a token that ends inside one waits for the next, as the real engine does."""
        ids = self._tokenizer.encode(text, add_special_tokens=False).ids
        pieces, sent = [], ""
        for end in range(1, len(ids) + 1):
            seen = self._tokenizer.decode(ids[:end], skip_special_tokens=False)
            if end == len(ids) or not seen.endswith("�"):
                pieces.append(seen.removeprefix(sent))
                sent = seen
        return pieces


def _name(token: object) -> str:
    """Written as a string, as an object, or not at all."""
    return str(token["content"] if isinstance(token, dict) else token or "")


class PrefixCache:
    """Remembers whole blocks of what was computed, apart for each salt, and never forgets."""

    def __init__(self) -> None:
        self._blocks: set[bytes] = set()

    def cached(self, salt: str, tokens: Sequence[str]) -> int:
        """Leading tokens whose blocks are known; the last token is always computed, as in the real engine."""
        count = 0
        for block in _blocks(salt, tokens[: max(len(tokens) - 1, 0)]):
            if block not in self._blocks:
                break
            count += BLOCK_TOKENS
        return count

    def remember(self, salt: str, tokens: Sequence[str]) -> None:
        self._blocks.update(_blocks(salt, tokens))

    def clear(self) -> None:
        self._blocks.clear()


def _blocks(salt: str, tokens: Sequence[str]) -> Iterable[bytes]:
    digest = blake2b(salt.encode(), digest_size=16)
    for start in range(0, len(tokens) - BLOCK_TOKENS + 1, BLOCK_TOKENS):
        digest.update("\0".join(tokens[start : start + BLOCK_TOKENS]).encode("utf-8", "replace"))
        yield digest.digest()
