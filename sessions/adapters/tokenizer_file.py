"""What a tokenizer.json says of how it makes tokens, as far as that can be done by tiktoken too."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from sessions.domain.merge_ranks import NotExact, merge_ranks
from sessions.domain.split_pattern import ByteLevel, Digits, OtherStep, Split, Step, split_pattern


def _pair(merge: object) -> object:
    """Older files write a merge as one string."""
    return tuple(merge.split(" ")) if isinstance(merge, str) else merge


class _Model(BaseModel):
    type: str | None = None
    vocab: Mapping[str, int]
    merges: list[Annotated[tuple[str, str], BeforeValidator(_pair)]]
    dropout: float | None = None
    continuing_subword_prefix: str | None = None
    end_of_word_suffix: str | None = None
    byte_fallback: bool = False
    ignore_merges: bool = False


class _Pattern(BaseModel):
    regex: str | None = Field(None, alias="Regex")


class _Step(BaseModel):
    type: str
    pretokenizers: "list[_Step]" = []
    pattern: _Pattern = _Pattern()
    behavior: str = ""
    invert: bool = False
    individual_digits: bool = False
    add_prefix_space: bool = True
    use_regex: bool = True

    def steps(self) -> Iterator[Step]:
        match self.type:
            case "Sequence":
                for step in self.pretokenizers:
                    yield from step.steps()
            case "Split" if self.pattern.regex is not None:
                yield Split(self.pattern.regex, self.behavior == "Isolated" and not self.invert)
            case "Digits":
                yield Digits(self.individual_digits)
            case "ByteLevel":
                yield ByteLevel(self.add_prefix_space, self.use_regex)
            case other:
                yield OtherStep(other)


class _Normalizer(BaseModel):
    type: str
    normalizers: "list[_Normalizer]" = []

    def names(self) -> list[str]:
        return [name for each in self.normalizers for name in each.names()] if self.type == "Sequence" else [self.type]


class _Kind(BaseModel):
    """Looked at first, since other kinds of model have other fields."""

    model: "_Named"


class _Named(BaseModel):
    type: str | None = None


class _File(BaseModel):
    model: _Model
    pre_tokenizer: _Step | None = None
    normalizer: _Normalizer | None = None


class ByteBpe:
    """Byte-level BPE as tiktoken does it: ranks, a pattern, and a normal form to bring a text to first.

    Raises `NotExact` where that would not give the same tokens.
    """

    def __init__(self, text: str) -> None:
        file = _read(text)
        model = file.model
        if model.dropout or model.byte_fallback or model.continuing_subword_prefix or model.end_of_word_suffix:
            raise NotExact("its merges work on more than bytes")
        steps = file.pre_tokenizer.steps() if file.pre_tokenizer is not None else ()
        self.pattern = split_pattern(list(steps))
        self.form = _form(file.normalizer)
        self.ranks = merge_ranks(model.vocab, model.merges, looks_words_up=model.ignore_merges)


def _read(text: str) -> _File:
    try:
        kind = _Kind.model_validate_json(text).model.type
        if kind not in (None, "BPE"):
            raise NotExact(f"it is of the kind {kind}, not BPE")
        return _File.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise NotExact(f"its file is not understood at {place}: {first['msg']}") from error


def _form(normalizer: _Normalizer | None) -> Literal["NFC"] | None:
    match normalizer.names() if normalizer is not None else []:
        case []:
            return None
        case ["NFC"]:
            return "NFC"
        case names:
            raise NotExact(f"its normaliser is not NFC alone but {', '.join(names)}")
