"""Counting as the served model does, and what is no tokenizer."""

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from sessions.adapters import tokenizer as tokenizer_module
from sessions.adapters.chat_template import ChatTemplate
from sessions.adapters.tokenizer import ModelTokenizer
from sessions.domain.neutralise import neutralised
from sessions.domain.prompt import Message, Role
from sessions.errors import TokenizerUnusable
from tests.support.strange_texts import strange_texts
from tests.support.tiny_families import DEEPSEEK, EXACT, LLAMA, Family
from tests.support.tiny_model import CHAT_TEMPLATE, SPECIAL_TOKENS, tiny_model

SYSTEM = Message(Role.SYSTEM, "You are the buyer.")
USER = Message(Role.USER, "  Good morning\n你好 ")
ASSISTANT = Message(Role.ASSISTANT, "\nHow can I help you? ")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny_model(tmp_path / "model")


@pytest.fixture
def counter(folder: Path) -> ModelTokenizer:
    return ModelTokenizer(folder=folder)


def _raw_count(folder: Path, text: str) -> int:
    tokenizer: Tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    return len(tokenizer.encode(text, add_special_tokens=False))


def _change(folder: Path, **changes: object) -> Path:
    file = folder / "tokenizer_config.json"
    config = json.loads(file.read_text()) | changes
    file.write_text(json.dumps({name: value for name, value in config.items() if value is not None}))
    return folder


def test_a_prompt_is_counted_as_the_rendered_template(folder: Path, counter: ModelTokenizer) -> None:
    rendered = (
        "<|im_start|>system\nYou are the buyer.<|im_end|>\n"
        "<|im_start|>user\n  Good morning\n你好 <|im_end|>\n"
        "<|im_start|>assistant\n\nHow can I help you? <|im_end|>\n"
        "<|im_start|>user\n  Good morning\n你好 <|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    assert counter.count_prompt([SYSTEM, USER, ASSISTANT, USER]) == _raw_count(folder, rendered)


def test_what_the_template_adds_by_itself_is_counted(folder: Path, counter: ModelTokenizer) -> None:
    rendered = "<|im_start|>system\nYou are a tutor.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    assert counter.count_prompt([Message(Role.USER, "Hi")]) == _raw_count(folder, rendered)


def test_text_is_counted_without_any_template(folder: Path, counter: ModelTokenizer) -> None:
    assert counter.count_text("") == 0
    assert counter.count_text("Good morning, 你好") == _raw_count(folder, "Good morning, 你好")


def test_a_text_that_is_counted_once_has_the_same_tokens(folder: Path, counter: ModelTokenizer) -> None:
    for text in ("", "Hello there", "价格 48 yuan <|im_start|> again", "e\u0301 🙂"):
        assert counter.count_once(text) == counter.count_text(text) == _raw_count(folder, text)


def test_the_overhead_is_what_one_more_exchange_costs_beyond_its_text(counter: ModelTokenizer) -> None:
    one = counter.count_prompt([SYSTEM, Message(Role.USER, "price")])
    more = [Message(Role.ASSISTANT, "customer"), Message(Role.USER, "order")]
    two = counter.count_prompt([SYSTEM, Message(Role.USER, "price"), *more])
    text = sum(counter.count_text(message.content) for message in more)
    assert two - one - text <= 2 * counter.message_overhead <= two - one - text + 1


def test_special_tokens_are_found_longest_first(counter: ModelTokenizer) -> None:
    assert set(counter.special_tokens) == set(SPECIAL_TOKENS)
    assert [len(token) for token in counter.special_tokens] == sorted(map(len, SPECIAL_TOKENS), reverse=True)


def test_added_tokens_that_only_look_like_control_are_special_and_spaces_are_not(folder: Path) -> None:
    tokenizer: Tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.add_tokens(["<think>", "    ", "discount"])
    tokenizer.save(str(folder / "tokenizer.json"))
    assert set(ModelTokenizer(folder=folder).special_tokens) == {*SPECIAL_TOKENS, "<think>"}


def test_special_tokens_that_begin_or_end_with_white_space_are_known_without_it(folder: Path) -> None:
    special = ModelTokenizer(folder=_change(folder, pad_token=" [PAD]", unk_token="<  ")).special_tokens
    assert set(special) == {*SPECIAL_TOKENS, "[PAD]"}
    assert neutralised("a [PAD] b", special) == "a [ PAD] b"


def test_tokens_named_in_the_configuration_are_special(folder: Path) -> None:
    _change(folder, pad_token="[PAD]")
    assert "[PAD]" in ModelTokenizer(folder=folder).special_tokens


def test_the_template_may_stand_in_a_file_of_its_own(folder: Path, counter: ModelTokenizer) -> None:
    _change(folder, chat_template=None)
    (folder / "chat_template.jinja").write_text(CHAT_TEMPLATE)
    alone = ModelTokenizer(folder=folder)
    assert alone.count_prompt([SYSTEM, USER]) == counter.count_prompt([SYSTEM, USER])


def test_of_several_templates_the_default_one_counts(folder: Path, counter: ModelTokenizer) -> None:
    named = [{"name": "tool_use", "template": "x"}, {"name": "default", "template": CHAT_TEMPLATE}]
    _change(folder, chat_template=named)
    assert ModelTokenizer(folder=folder).count_prompt([USER]) == counter.count_prompt([USER])


def test_limits_in_the_tokenizer_file_do_not_cut_the_count(folder: Path, counter: ModelTokenizer) -> None:
    tokenizer: Tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=512)
    tokenizer.save(str(folder / "tokenizer.json"))
    assert ModelTokenizer(folder=folder).count_prompt([SYSTEM, USER]) == counter.count_prompt([SYSTEM, USER])


@pytest.mark.parametrize("missing", ["tokenizer.json", "tokenizer_config.json"])
def test_a_missing_file_is_named(folder: Path, missing: str) -> None:
    (folder / missing).unlink()
    with pytest.raises(TokenizerUnusable, match=rf"{missing} is missing"):
        ModelTokenizer(folder=folder)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(TokenizerUnusable, match="nowhere"):
        ModelTokenizer(folder=tmp_path / "nowhere")


def test_a_file_in_place_of_the_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TokenizerUnusable, match="cannot be read"):
        ModelTokenizer(folder=tmp_path / "file")


def test_a_folder_without_a_template_is_told(folder: Path) -> None:
    _change(folder, chat_template=None)
    with pytest.raises(TokenizerUnusable, match="no chat template"):
        ModelTokenizer(folder=folder)


@pytest.mark.parametrize("content", [b"{}", b"not json", b"\xff\xfe", b""])
def test_what_is_no_tokenizer_is_told(folder: Path, content: bytes) -> None:
    (folder / "tokenizer.json").write_bytes(content)
    with pytest.raises(TokenizerUnusable, match=r"tokenizer\.json"):
        ModelTokenizer(folder=folder)


@pytest.mark.parametrize("content", [b"[]", b"not json", b'{"bos_token": 7}'])
def test_what_is_no_configuration_is_told(folder: Path, content: bytes) -> None:
    (folder / "tokenizer_config.json").write_bytes(content)
    with pytest.raises(TokenizerUnusable, match=r"tokenizer_config\.json"):
        ModelTokenizer(folder=folder)


@pytest.mark.parametrize(
    "template", ["{% for %}", "{{ raise_exception('no system role') }}", "{{ messages[9].x.y }}", "{{ 1 / 0 }}"]
)
def test_a_template_that_does_not_work_is_told(folder: Path, template: str) -> None:
    with pytest.raises(TokenizerUnusable, match="chat template"):
        ModelTokenizer(folder=_change(folder, chat_template=template))


def test_a_template_that_wants_the_trainee_to_speak_first_is_told(folder: Path) -> None:
    strict = (
        "{% if messages[0].role == 'system' and messages[1].role != 'user' %}"
        "{{ raise_exception('roles must alternate') }}{% endif %}{{ messages }}"
    )
    with pytest.raises(TokenizerUnusable, match="roles must alternate"):
        ModelTokenizer(folder=_change(folder, chat_template=strict))


def test_the_folder_is_not_needed_afterwards(folder: Path, counter: ModelTokenizer) -> None:
    shutil.rmtree(folder)
    assert counter.count_prompt([USER]) > 0


def _rendered(folder: Path, messages: Sequence[Message]) -> str:
    source = json.loads((folder / "tokenizer_config.json").read_text())
    tokens = {"bos_token": source.get("bos_token", "")}
    return ChatTemplate(source["chat_template"], tokens=tokens).render(messages)


def _conversations(seed: int) -> Iterator[list[Message]]:
    """Growing ones, of strange texts that begin and end in anything."""
    texts = strange_texts(120, seed=seed)
    talk = [Message(Role.SYSTEM, next(texts)), Message(Role.ASSISTANT, next(texts))]
    for text in texts:
        talk.append(Message(Role.USER if talk[-1].role is Role.ASSISTANT else Role.ASSISTANT, text))
        yield talk


@pytest.mark.parametrize("family", [*EXACT, DEEPSEEK], ids=lambda family: family.name)
def test_every_prompt_of_a_growing_talk_is_counted_exactly(family: Family, tmp_path: Path) -> None:
    folder = family.model(tmp_path / "model")
    counter = ModelTokenizer(folder=folder)
    for talk in _conversations(seed=4):
        assert counter.count_prompt(talk) == _raw_count(folder, _rendered(folder, talk))


@pytest.mark.parametrize("family", EXACT, ids=lambda family: family.name)
def test_tiktoken_counts_where_it_is_exact(family: Family, tmp_path: Path) -> None:
    assert ModelTokenizer(folder=family.model(tmp_path / "model")).counted_by == "tiktoken"


def test_otherwise_the_reason_is_told(folder: Path, tmp_path: Path) -> None:
    deepseek = ModelTokenizer(folder=DEEPSEEK.model(tmp_path / "deepseek"))
    assert deepseek.counted_by.startswith("tokenizers: it cuts words in steps that no single pattern is known for")
    tokenizer: Tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.add_tokens(["discount"])
    tokenizer.save(str(folder / "tokenizer.json"))
    changed = ModelTokenizer(folder=folder)
    assert changed.counted_by == "tokenizers: it looks for its added tokens in two rounds"
    assert changed.count_text("a discount for <|im_end|>") == _raw_count(folder, "a discount for <|im_end|>")


@pytest.mark.parametrize("family", EXACT, ids=lambda family: family.name)
def test_the_overhead_of_a_message_is_exact_around_plain_words(family: Family, tmp_path: Path) -> None:
    counter = ModelTokenizer(folder=family.model(tmp_path / "model"))
    talk = [Message(Role.SYSTEM, "You are."), Message(Role.USER, "price")]
    more = [Message(Role.ASSISTANT, "customer"), Message(Role.USER, "order")]
    added = counter.count_prompt([*talk, *more]) - counter.count_prompt(talk)
    text = sum(counter.count_text(message.content) for message in more)
    assert 2 * counter.message_overhead - added + text in (0, 1)


def test_what_is_remembered_is_bounded_and_holds_no_words(
    counter: ModelTokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokenizer_module, "_REMEMBERED", 3)
    before = [counter.count_text(f"discount {number}") for number in range(9)]
    assert [counter.count_text(f"discount {number}") for number in range(9)] == before
    pieces = counter._pieces
    assert isinstance(pieces, tokenizer_module._Pieces)
    assert len(pieces._counts) == 3
    assert all(len(key) == 16 for key in pieces._counts)


def test_a_template_with_a_date_is_counted_as_the_engine_is_told_to_write_it(tmp_path: Path) -> None:
    counter = ModelTokenizer(folder=LLAMA.model(tmp_path / "llama"))
    assert counter.template_arguments == {"date_string": "26 Jul 2024"}
    assert not counter.writes_today


def test_a_chat_is_counted_as_a_prompt_is(counter: ModelTokenizer) -> None:
    talk = [SYSTEM, USER, ASSISTANT]
    plain = [{"role": str(message.role), "content": message.content} for message in talk]
    assert counter.count_chat(plain) == counter.count_prompt(talk)


def test_a_chat_that_the_template_refuses_is_not_counted(counter: ModelTokenizer) -> None:
    assert counter.count_chat([{"role": "assistant", "content": None}]) is None
