"""The five models by their published configs, written out by hand for the tests to count with."""

from typing import Final

from router.fleet.domain.model_config import ModelConfig, model_config

QWEN25_7B: Final[dict[str, object]] = {
    "model_type": "qwen2",
    "hidden_size": 3584,
    "intermediate_size": 18944,
    "num_hidden_layers": 28,
    "num_attention_heads": 28,
    "num_key_value_heads": 4,
    "vocab_size": 152064,
    "max_position_embeddings": 32768,
    "tie_word_embeddings": False,
}
QWEN25_14B = QWEN25_7B | {
    "hidden_size": 5120,
    "intermediate_size": 13824,
    "num_hidden_layers": 48,
    "num_attention_heads": 40,
    "num_key_value_heads": 8,
}
QWEN25_32B = QWEN25_14B | {"intermediate_size": 27648, "num_hidden_layers": 64}
QWEN3_8B: Final[dict[str, object]] = {
    "model_type": "qwen3",
    "hidden_size": 4096,
    "intermediate_size": 12288,
    "num_hidden_layers": 36,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 151936,
    "max_position_embeddings": 40960,
    "tie_word_embeddings": False,
}
LLAMA31_8B: Final[dict[str, object]] = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "tie_word_embeddings": False,
}
SMOLLM2_135M: Final[dict[str, object]] = {
    "model_type": "llama",
    "hidden_size": 576,
    "intermediate_size": 1536,
    "num_hidden_layers": 30,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "head_dim": 64,
    "vocab_size": 49152,
    "max_position_embeddings": 8192,
    "tie_word_embeddings": True,
}
TOLD: Final = {
    "Qwen2.5-7B": QWEN25_7B,
    "Qwen2.5-14B": QWEN25_14B,
    "Qwen2.5-32B": QWEN25_32B,
    "Qwen3-8B": QWEN3_8B,
    "Llama-3.1-8B": LLAMA31_8B,
    "SmolLM2-135M": SMOLLM2_135M,
}


def model(name: str) -> ModelConfig:
    return model_config(name, TOLD[name])
