"""Turns the bundled model's GGUF file into the folder of files that vLLM and tokenizers read.

The weights are widened from their quantised form to bfloat16. Query and key rows are put back in order: llama.cpp
interleaves the two halves of each head for its rotary embedding, the safetensors layout has one after the other.
It is run as a program (`python -m gateway.local.gguf_folder MODEL.gguf FOLDER`): that can be stopped half-way, and its
memory is given back.
"""

import json
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from gguf import GGUFReader
from gguf.quants import dequantize

Floats = npt.NDArray[np.float32]

_TOP_LEVEL = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
_IN_LAYER = {
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_SPECIAL_TOKEN = 3  # GGUF's token type "control"


class NotThisModel(ValueError):
    """The file holds a model of another kind than this converter knows."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """The file's key-value part; numbers and lists are asked for by the type they must have."""

    values: Mapping[str, object]

    def number(self, key: str) -> int:
        return int(self._of(f"llama.{key}", (int, float)))

    def real(self, key: str) -> float:
        return float(self._of(f"llama.{key}", (int, float)))

    def text(self, key: str) -> str:
        return str(self._of(key, (str,)))

    def token_id(self, role: str) -> int:
        return int(self._of(f"tokenizer.ggml.{role}_token_id", (int, float)))

    def words(self, key: str) -> list[str]:
        return [str(word) for word in self._list(key)]

    def numbers(self, key: str) -> list[int]:
        return [int(str(number)) for number in self._list(key)]

    def _list(self, key: str) -> Sequence[object]:
        found = self.values.get(key)
        if not isinstance(found, list):
            raise NotThisModel(f"the file has no list {key}")
        return found

    def _of(self, key: str, kinds: tuple[type[str] | type[int] | type[float], ...]) -> str | int | float:
        found = self.values.get(key)
        if not isinstance(found, (str, int, float)) or not isinstance(found, kinds):
            raise NotThisModel(f"the file has no {key}")
        return found


def convert(source: Path, folder: Path) -> None:
    """Write config, weights, tokenizer and chat template of `source` into `folder`."""
    reader = GGUFReader(str(source))
    facts = Metadata({key: field.contents() for key, field in reader.fields.items()})
    for key, known in (("general.architecture", "llama"), ("tokenizer.ggml.pre", "smollm")):
        if facts.text(key) != known:
            raise NotThisModel(f"{key} is {facts.text(key)}, this converter knows {known} only")
    folder.mkdir(parents=True, exist_ok=True)
    tensors = dict(_tensors(reader, facts))
    _write_safetensors(folder / "model.safetensors", tensors)
    _write_json(folder / "config.json", model_config(facts, tied="lm_head.weight" not in tensors))
    special = {f"{role}_token_id": facts.token_id(name) for role, name in _ROLES.items() if role != "unk"}
    _write_json(folder / "generation_config.json", special)
    _write_json(folder / "tokenizer.json", tokenizer(facts))
    _write_json(folder / "tokenizer_config.json", tokenizer_config(facts))
    (folder / "chat_template.jinja").write_text(facts.text("tokenizer.chat_template"))


_ROLES = {"bos": "bos", "eos": "eos", "pad": "padding", "unk": "unknown"}


def _tensors(reader: GGUFReader, facts: Metadata) -> Iterator[tuple[str, Floats]]:
    heads = {"attn_q": facts.number("attention.head_count"), "attn_k": facts.number("attention.head_count_kv")}
    for tensor in reader.tensors:
        shape = tuple(int(size) for size in reversed(tensor.shape))
        weights = dequantize(tensor.data, tensor.tensor_type).reshape(shape)
        part = tensor.name.split(".")[-2]
        yield tensor_name(tensor.name), uninterleaved(weights, heads[part]) if part in heads else weights


def tensor_name(name: str) -> str:
    if name in _TOP_LEVEL:
        return _TOP_LEVEL[name]
    _, layer, part, _ = name.split(".")
    return f"model.layers.{layer}.{_IN_LAYER[part]}.weight"


def uninterleaved(weights: Floats, heads: int) -> Floats:
    rows, *rest = weights.shape
    return weights.reshape(heads, rows // heads // 2, 2, *rest).swapaxes(1, 2).reshape(weights.shape)


def as_bfloat16(weights: Floats) -> npt.NDArray[np.uint16]:
    """The upper halves of the float32 bits, rounded to nearest, ties to even."""
    bits = np.ascontiguousarray(weights, dtype=np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def _write_safetensors(file: Path, tensors: Mapping[str, Floats]) -> None:
    """The format: eight bytes of header length, a JSON header with offsets, then the numbers."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, weights in tensors.items():
        begin, end = end, end + weights.size * 2
        header[name] = {"dtype": "BF16", "shape": list(weights.shape), "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with file.open("wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for weights in tensors.values():
            out.write(as_bfloat16(weights).tobytes())


def model_config(facts: Metadata, *, tied: bool) -> Mapping[str, object]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": facts.number("vocab_size"),
        "hidden_size": facts.number("embedding_length"),
        "intermediate_size": facts.number("feed_forward_length"),
        "num_hidden_layers": facts.number("block_count"),
        "num_attention_heads": facts.number("attention.head_count"),
        "num_key_value_heads": facts.number("attention.head_count_kv"),
        "head_dim": facts.number("rope.dimension_count"),
        "max_position_embeddings": facts.number("context_length"),
        # The file keeps a float32: 1e-5 would come back as 9.999999747378752e-06.
        "rms_norm_eps": float(f"{facts.real('attention.layer_norm_rms_epsilon'):.3g}"),
        "rope_theta": facts.real("rope.freq_base"),
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": tied,
        "torch_dtype": "bfloat16",
        "bos_token_id": facts.token_id("bos"),
        "eos_token_id": facts.token_id("eos"),
        "pad_token_id": facts.token_id("padding"),
    }


def tokenizer_config(facts: Metadata) -> Mapping[str, object]:
    tokens = facts.words("tokenizer.ggml.tokens")
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": facts.number("context_length"),
        **{f"{role}_token": tokens[facts.token_id(name)] for role, name in _ROLES.items()},
        "add_prefix_space": False,
        "clean_up_tokenization_spaces": False,
        "chat_template": facts.text("tokenizer.chat_template"),
    }


def tokenizer(facts: Metadata) -> Mapping[str, object]:
    """The file `tokenizers` loads: byte-level BPE; what GGUF calls "smollm" takes every digit by itself first."""
    tokens = facts.words("tokenizer.ggml.tokens")
    kinds = facts.numbers("tokenizer.ggml.token_type")
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0",
        "added_tokens": [
            _special(number, token) for number, token in enumerate(tokens) if kinds[number] == _SPECIAL_TOKEN
        ],
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [{"type": "Digits", "individual_digits": True}, byte_level],
        },
        "post_processor": None,
        "decoder": {**byte_level, "add_prefix_space": True},
        "model": {
            "type": "BPE",
            "vocab": {token: number for number, token in enumerate(tokens)},
            "merges": [merge.split(" ") for merge in facts.words("tokenizer.ggml.merges")],
        },
    }


def _special(number: int, token: str) -> Mapping[str, object]:
    loose = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": number, "content": token, **loose, "special": True}


def _write_json(file: Path, content: Mapping[str, object]) -> None:
    file.write_text(json.dumps(content, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    convert(Path(sys.argv[1]), Path(sys.argv[2]))
