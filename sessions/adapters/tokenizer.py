"""Counts tokens with the served model's own tokenizer and chat template, read from its folder."""

import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError
from tokenizers import AddedToken, Tokenizer
from typing_extensions import override

from sessions.adapters.chat_template import ChatTemplate, TemplateBroken
from sessions.adapters.tiktoken_encoding import TiktokenEncoding
from sessions.adapters.tokenizer_file import ByteBpe
from sessions.domain.added_tokens import AddedToken as FoundToken
from sessions.domain.added_tokens import Cutter
from sessions.domain.merge_ranks import NotExact
from sessions.domain.prompt import Message, Role
from sessions.errors import TokenizerUnusable
from sessions.ports import TokenCounter

_SAMPLE = "Hi"
_REMEMBERED = 16_384
"""Pieces whose counts are kept, in about 2 MB: the messages of some 300 sessions."""
_NAMED = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


class _Token(BaseModel):
    content: str


class _NamedTemplate(BaseModel):
    name: str
    template: str


class _Config(BaseModel):
    """What of tokenizer_config.json matters here."""

    model_config = ConfigDict(extra="ignore")

    chat_template: str | list[_NamedTemplate] | None = None
    bos_token: str | _Token | None = None
    eos_token: str | _Token | None = None
    unk_token: str | _Token | None = None
    sep_token: str | _Token | None = None
    pad_token: str | _Token | None = None
    cls_token: str | _Token | None = None
    mask_token: str | _Token | None = None

    def special(self) -> Mapping[str, str]:
        given = ((name, getattr(self, name)) for name in _NAMED)
        return {name: token.content if isinstance(token, _Token) else token for name, token in given if token}

    def template(self) -> str | None:
        if isinstance(self.chat_template, list):
            return next((each.template for each in self.chat_template if each.name == "default"), None)
        return self.chat_template


class _Whole:
    """Reads every text as a whole, with the library that the engine uses too."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def count(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False))

    def count_once(self, text: str) -> int:
        return self.count(text)


class _Pieces:
    """Cuts a text at its added tokens and counts each piece once.

    Nothing is merged across an added token, so the sum is exact, and the pieces of a prompt are its messages: of a
    prompt that has grown only what is new is read. No text is kept, only digests.
    """

    def __init__(self, cutter: Cutter, encoding: TiktokenEncoding) -> None:
        self._cutter = cutter
        self._encoding = encoding
        self._counts: OrderedDict[bytes, int] = OrderedDict()

    def count(self, text: str) -> int:
        added, pieces = self._cutter.cut(text)
        return added + sum(map(self._counted, pieces))

    def count_once(self, text: str) -> int:
        added, pieces = self._cutter.cut(text)
        return added + sum(map(self._encoding.count, pieces))

    def _counted(self, piece: str) -> int:
        key = blake2b(piece.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        tokens = self._counts.get(key)
        if tokens is None:
            tokens = self._counts[key] = self._encoding.count(piece)
            while len(self._counts) > _REMEMBERED:
                self._counts.popitem(last=False)
        else:
            self._counts.move_to_end(key)
        return tokens


class ModelTokenizer(TokenCounter):
    """A `TokenCounter` from a Hugging Face folder; raises `TokenizerUnusable` when it holds none.

    The counts are those of the engine, because the same template is rendered and the same tokenizer encodes it, or
    tiktoken where that is sure to give the same tokens.
    """

    def __init__(self, *, folder: Path) -> None:
        config = _config(folder)
        text = _text(folder / "tokenizer.json")
        tokenizer = _tokenizer(folder / "tokenizer.json", text)
        self._special = _special_tokens(tokenizer, config)
        self._template = _template(folder, config)
        self._pieces: _Whole | _Pieces = _Whole(tokenizer)
        self._counted_by = "tiktoken"
        try:
            self._pieces = _pieces(tokenizer, text)
        except NotExact as error:
            self._counted_by = f"tokenizers: {error}"
        self._overhead = self._measured_overhead()
        # Sessions open with a line of the tutor's; a model whose template refuses that must not start to serve.
        self.count_prompt([Message(role, _SAMPLE) for role in (Role.SYSTEM, Role.ASSISTANT, Role.USER)])

    @property
    @override
    def counted_by(self) -> str:
        return self._counted_by

    @property
    def template_arguments(self) -> Mapping[str, str]:
        """What the engine must be told with each request so that it writes the prompt which is counted here."""
        return self._template.arguments

    @property
    def writes_today(self) -> bool:
        """Whether the engine writes each day's date into the prompt, whatever it is told."""
        return self._template.writes_today

    @property
    @override
    def special_tokens(self) -> tuple[str, ...]:
        return self._special

    @property
    @override
    def message_overhead(self) -> int:
        return self._overhead

    @override
    def count_text(self, text: str) -> int:
        """The text must have been neutralised: a special token in it would count as the one token it is."""
        return self._pieces.count(text)

    def count_once(self, text: str) -> int:
        """As `count_text`, of a text that will not come again; from any thread, and whatever is remembered stays."""
        return self._pieces.count_once(text)

    @override
    def count_prompt(self, messages: Sequence[Message]) -> int:
        try:
            return self._pieces.count(self._template.render(messages))
        except TemplateBroken as error:
            raise TokenizerUnusable(f"the model's chat template refuses the messages: {error}") from error

    def count_chat(self, messages: Sequence[Mapping[str, object]], tools: object = None) -> int | None:
        """Of a whole prompt that will not come again, as OpenAI's API has it; from any thread, as `count_once`. None:
        the template refuses the messages."""
        try:
            return self._pieces.count_once(self._template.render_chat(messages, tools))
        except TemplateBroken:
            return None

    def _measured_overhead(self) -> int:
        """By differences, so that what stands once in a prompt cancels out; user and assistant alternate, because
        some templates refuse anything else."""
        asked, answered = Message(Role.USER, _SAMPLE), Message(Role.ASSISTANT, _SAMPLE)
        one, two = self.count_prompt([asked]), self.count_prompt([asked, answered, asked])
        return math.ceil((two - one) / 2) - self.count_text(_SAMPLE)


def _pieces(tokenizer: Tokenizer, text: str) -> _Pieces:
    """Raises `NotExact`."""
    added: Mapping[int, AddedToken] = tokenizer.get_added_tokens_decoder()
    found = [
        FoundToken(token.content, not (token.lstrip or token.rstrip or token.single_word), token.normalized)
        for token in added.values()
    ]
    cutter = Cutter(found, is_normalizing=tokenizer.normalizer is not None)
    return _Pieces(cutter, TiktokenEncoding(ByteBpe(text), otherwise=_Whole(tokenizer).count))


def _tokenizer(file: Path, text: str) -> Tokenizer:
    try:
        tokenizer: Tokenizer = Tokenizer.from_str(text)
    except Exception as error:  # the library has no error class of its own
        raise TokenizerUnusable(f"{file} is no tokenizer: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _config(folder: Path) -> _Config:
    file = folder / "tokenizer_config.json"
    try:
        return _Config.model_validate_json(_text(file))
    except ValidationError as error:
        raise TokenizerUnusable(f"{file} is no tokenizer configuration: {error.errors()[0]['msg']}") from error


def _template(folder: Path, config: _Config) -> ChatTemplate:
    file = folder / "chat_template.jinja"
    source = _text(file) if file.is_file() else config.template()
    if not source:
        raise TokenizerUnusable(f"{folder} holds no chat template, in a file of its own or in tokenizer_config.json")
    try:
        return ChatTemplate(source, tokens=config.special())
    except TemplateBroken as error:
        raise TokenizerUnusable(f"the chat template of {folder} cannot be used: {error}") from error


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise TokenizerUnusable(f"{file} is missing") from error
    except (OSError, UnicodeDecodeError) as error:
        raise TokenizerUnusable(f"{file} cannot be read: {error}") from error


def _special_tokens(tokenizer: Tokenizer, config: _Config) -> tuple[str, ...]:
    """Longest first, so that a token which holds a shorter one is met before it.

    Without the white space around them: a space cannot break a token that begins or ends with one.
    """
    added: Mapping[int, AddedToken] = tokenizer.get_added_tokens_decoder()
    found = {token.content for token in added.values() if _is_control(token)} | set(config.special().values())
    bare = {token.strip() for token in found}
    return tuple(sorted((token for token in bare if len(token) > 1), key=lambda token: (-len(token), token)))


def _is_control(token: AddedToken) -> bool:
    """Also what only looks like control: `<think>` or `<tool_call>` are not special to the tokenizer, but to parsers.
    Other added tokens are plain text, such as runs of spaces."""
    text = token.content
    return bool(text.strip()) and (token.special or (text.startswith("<") and text.endswith(">")))
