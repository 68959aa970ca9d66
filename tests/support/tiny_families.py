"""Tiny tokenizers of each family that is served: their own steps, normaliser, special tokens and chat template."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from sessions.domain.split_pattern import LLAMA3, QWEN
from tests.support.tiny_model import CHAT_TEMPLATE

QWEN_TEMPLATE = (
    "{%- if messages[0]['role'] == 'system' %}"
    "{{- '<|im_start|>system\n' + messages[0]['content'] + '<|im_end|>\n' }}"
    "{%- else %}"
    "{{- '<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n' }}"
    "{%- endif %}"
    "{%- for message in messages %}"
    "{%- if message.role != 'system' or not loop.first %}"
    "{{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>' + '\n' }}"
    "{%- endif %}"
    "{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}"
)

LLAMA_TEMPLATE = (
    "{{- bos_token }}"
    "{%- if not date_string is defined %}"
    "{%- if strftime_now is defined %}{%- set date_string = strftime_now('%d %b %Y') %}"
    "{%- else %}{%- set date_string = '26 Jul 2024' %}{%- endif %}"
    "{%- endif %}"
    "{%- if messages[0]['role'] == 'system' %}"
    "{%- set system_message = messages[0]['content'] | trim %}{%- set messages = messages[1:] %}"
    "{%- else %}{%- set system_message = '' %}{%- endif %}"
    "{{- '<|start_header_id|>system<|end_header_id|>\n\n' }}"
    "{{- 'Cutting Knowledge Date: December 2023\n' }}{{- 'Today Date: ' + date_string + '\n\n' }}"
    "{{- system_message }}{{- '<|eot_id|>' }}"
    "{%- for message in messages %}"
    "{{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n' }}"
    "{{- message['content'] | trim }}{{- '<|eot_id|>' }}"
    "{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{%- endif %}"
)

_CHATML = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
_LLAMA = ("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>")

_CORPUS = (
    "You are the buyer of a small company. Ask for a discount and never say that you are a machine. " * 3,
    "system user assistant\n\nThe customer says that the price is too high and asks what the service includes.",
    "Good morning, it's 12 o'clock; I'll call you. We've 3,145 orders!!  \n\n\t\tWhy  not?   naïve café",
    "你好,我想了解一下你们的产品和价格。请问有什么可以帮您?您好您好,我的话费多扣了69块钱。",
    "😀😀 👩‍💻👩‍💻 ééé ééé aaaaaaaa aaaa bababababa \r\n\r\n",
)


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """`looks_words_up` is Llama 3's way."""

    name: str
    steps: Sequence[object]
    template: str
    special: Sequence[str]
    named: Mapping[str, str]
    nfc: bool = False
    looks_words_up: bool = False
    added: Sequence[str] = field(default=())
    """Added, but not special."""

    def model(self, folder: Path) -> Path:
        """Write the files of it into `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        self.tokenizer().save(str(folder / "tokenizer.json"))
        config = {"tokenizer_class": "PreTrainedTokenizerFast", "chat_template": self.template, **self.named}
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
        return folder

    def tokenizer(self) -> Tokenizer:
        tokenizer = Tokenizer(models.BPE(ignore_merges=self.looks_words_up))
        if self.nfc:
            tokenizer.normalizer = normalizers.NFC()
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(list(self.steps))
        tokenizer.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=700,
            show_progress=False,
            special_tokens=[AddedToken(token, special=True, normalized=False) for token in self.special],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        )
        tokenizer.train_from_iterator(_CORPUS, trainer=trainer)
        tokenizer.add_tokens([AddedToken(token, special=False, normalized=False) for token in self.added])
        return tokenizer


def _byte_level(*, splits: bool) -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=splits)


def _split(pattern: str) -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Split(Regex(pattern), "isolated")


GPT2 = Family("gpt2", [_byte_level(splits=True)], CHAT_TEMPLATE, _CHATML, {"eos_token": "<|im_end|>"})
SMOLLM = Family(
    "smollm",
    [pre_tokenizers.Digits(individual_digits=True), _byte_level(splits=True)],
    CHAT_TEMPLATE,
    _CHATML,
    {"eos_token": "<|im_end|>"},
)
QWEN25 = Family(
    "qwen",
    [_split(QWEN), _byte_level(splits=False)],
    QWEN_TEMPLATE,
    _CHATML,
    {"eos_token": "<|im_end|>"},
    nfc=True,
    added=("<tool_call>", "</tool_call>"),
)
LLAMA = Family(
    "llama3",
    [_split(LLAMA3), _byte_level(splits=False)],
    LLAMA_TEMPLATE,
    _LLAMA,
    {"bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>"},
    looks_words_up=True,
)
DEEPSEEK = Family(
    "deepseek",
    [_split(r"\p{N}{1,3}"), _split("[一-龥]+"), _split(r"\s+|\S+"), _byte_level(splits=False)],
    CHAT_TEMPLATE,
    _CHATML,
    {"eos_token": "<|im_end|>"},
)
"""Three splits, one after the other."""

EXACT = (GPT2, SMOLLM, QWEN25, LLAMA)
