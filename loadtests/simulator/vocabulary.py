"""Turns conversations into token ids and back: by a model's own folder, or by the built-in vocabulary."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn, Protocol

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Tokenizer

from loadtests.simulator.domain import packed_tokens
from loadtests.simulator.domain.packed_tokens import Token
from loadtests.simulator.domain.replies import Said
from loadtests.simulator.errors import bad_request

_UNREADABLE = "�"
_CONTINUED = "<|continued here|>"
_NOT_BOTH = (
    "continue_final_message and add_generation_prompt are not compatible. Use continue_final_message when you want the "
    "model to continue the final message, and add_generation_prompt when you want to add a header that will prompt it "
    "to start a new assistant message instead."
)
_EMPTY = "Cannot apply chat template to an empty conversation. Provide at least one message."


class Vocabulary(Protocol):
    """What the engine reads and writes."""

    end: int
    """The token that ends a message."""

    def render(self, conversation: Sequence[Said], *, for_reply: bool) -> str: ...

    def encode(self, text: str) -> list[int]: ...

    def decode(self, ids: Sequence[int]) -> str: ...

    def tokens(self, text: str) -> list[Token]: ...

    def name_of(self, token: int) -> str:
        """The token as /tokenize spells it."""

    def knows(self, token: int) -> bool: ...


class PackedVocabulary:
    """The built-in one, with the layout of ChatML and no system prompt of its own."""

    end = packed_tokens.encode(packed_tokens.END)[0]

    def render(self, conversation: Sequence[Said], *, for_reply: bool) -> str:
        start, end = packed_tokens.START, packed_tokens.END
        messages = "".join(f"{start}{said.role}\n{said.content}{end}\n" for said in conversation)
        return f"{messages}{start}assistant\n" if for_reply else messages

    def encode(self, text: str) -> list[int]:
        return packed_tokens.encode(_whole(text))

    def decode(self, ids: Sequence[int]) -> str:
        return packed_tokens.decode(ids)

    def tokens(self, text: str) -> list[Token]:
        return packed_tokens.tokens_of(text)

    def name_of(self, token: int) -> str:
        return packed_tokens.decode([token])

    def knows(self, token: int) -> bool:
        """Every number is taken; one that is no id reads as nothing."""
        return token >= 0


class FolderVocabulary:
    """The tokenizer and chat template of a folder in Hugging Face's layout."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        settings = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
        beside = folder / "chat_template.jinja"
        jinja = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, autoescape=False)
        jinja.globals["raise_exception"] = _raise
        self._template = jinja.from_string(beside.read_text("utf-8") if beside.exists() else settings["chat_template"])
        self._names = {name: _token_name(settings.get(name)) for name in ("bos_token", "eos_token")}
        self.end = self._tokenizer.token_to_id(self._names["eos_token"]) or 0

    def render(self, conversation: Sequence[Said], *, for_reply: bool) -> str:
        messages = [{"role": said.role, "content": said.content} for said in conversation]
        try:
            return self._template.render(messages=messages, add_generation_prompt=for_reply, **self._names)
        except TemplateError as error:
            raise bad_request(str(error)) from error

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(_whole(text), add_special_tokens=False).ids
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        return self._tokenizer.decode(list(ids), skip_special_tokens=False)

    def tokens(self, text: str) -> list[Token]:
        """A token that ends inside a character reads as nothing; the one that completes it reads as all of it."""
        ids = self.encode(text)
        tokens: list[Token] = []
        begun = 0
        for end in range(1, len(ids) + 1):
            # From the token before: some tokenizers write a leading space only where something stands before it.
            context = max(begun - 1, 0)
            seen = self.decode(ids[context:end])
            if seen.endswith(_UNREADABLE) and end < len(ids):
                tokens.append(Token(ids[end - 1], ""))
                continue
            tokens.append(Token(ids[end - 1], seen.removeprefix(self.decode(ids[context:begun]))))
            begun = end
        return tokens

    def name_of(self, token: int) -> str:
        return self._tokenizer.id_to_token(token) or ""

    def knows(self, token: int) -> bool:
        return token >= 0 and self._tokenizer.id_to_token(token) is not None


def vocabulary_of(model: Path | None) -> Vocabulary:
    return PackedVocabulary() if model is None else FolderVocabulary(model)


def chat_text(
    vocabulary: Vocabulary, conversation: Sequence[Said], *, add_generation_prompt: bool, continue_final_message: bool
) -> str:
    """The prompt of a chat; a final message that is to be continued is left open at its end."""
    if not conversation:
        raise bad_request(_EMPTY)
    if not continue_final_message:
        return vocabulary.render(conversation, for_reply=add_generation_prompt)
    if add_generation_prompt:
        raise bad_request(_NOT_BOTH)
    *before, last = conversation
    marked = [*before, Said(last.role, last.content + _CONTINUED)]
    return vocabulary.render(marked, for_reply=False).rpartition(_CONTINUED)[0]


def _whole(text: str) -> str:
    """Half a character, which JSON can carry, is none for a tokenizer."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        message = "TextEncodeInput must be Union[TextInputSequence, Tuple[InputSequence, InputSequence]]"
        raise bad_request(message) from error
    return text


def _raise(message: str) -> NoReturn:
    raise TemplateError(message)


def _token_name(token: object) -> str:
    """Written as a string, as an object, or not at all."""
    return str(token.get("content", "")) if isinstance(token, Mapping) else str(token or "")
