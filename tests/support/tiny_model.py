"""A folder with a real but tiny tokenizer: byte-level BPE and a ChatML template, made in milliseconds."""

import json
from importlib.resources import files
from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

SPECIAL_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")

CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are a tutor.<|im_end|>\n' }}"
    "{% endif %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)

_CORPUS = (
    "You are the buyer of a small company. Ask for a discount and never say that you are a machine.",
    "system user assistant The customer says that the price is too high and asks what the service includes.",
    "Good morning, thank you for calling. How can I help you with your order today?",
    "你好,我想了解一下你们的产品和价格。请问有什么可以帮您?",
)


def tiny_model(folder: Path) -> Path:
    """Write the tokenizer into `folder`; the same bytes every time."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = _trained()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(
        json.dumps(
            {
                "tokenizer_class": "PreTrainedTokenizerFast",
                "bos_token": "<|im_start|>",
                "eos_token": {"content": "<|im_end|>", "__type": "AddedToken"},
                "chat_template": CHAT_TEMPLATE,
                "model_max_length": 4096,
            }
        )
    )
    return folder


def _trained() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=2000,
        show_progress=False,
        special_tokens=[AddedToken(token, special=True, normalized=False) for token in SPECIAL_TOKENS],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(_corpus(), trainer=trainer)
    return tokenizer


def _corpus() -> list[str]:
    """Trained on the sample scenarios too, so that they keep to their shares of a window."""
    samples = files("gateway.local").joinpath("samples").iterdir()
    return [*_CORPUS, *(sample.read_text(encoding="utf-8") for sample in sorted(samples, key=lambda each: each.name))]
