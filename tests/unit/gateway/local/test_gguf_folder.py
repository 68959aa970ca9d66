import json
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from gguf import GGUFReader
from tokenizers import Tokenizer

from gateway.local.gguf_folder import Metadata, NotThisModel, as_bfloat16, convert, tensor_name, uninterleaved
from tests.unit.gateway.local.tiny_gguf import HEAD, HEADS, HIDDEN, KV_HEADS, TEMPLATE, TOKENS, write_tiny_gguf


@pytest.fixture
def source(tmp_path: Path) -> Path:
    write_tiny_gguf(tmp_path / "model.gguf")
    return tmp_path / "model.gguf"


@pytest.fixture
def folder(source: Path, tmp_path: Path) -> Path:
    convert(source, tmp_path / "folder")
    return tmp_path / "folder"


@dataclass(frozen=True, slots=True)
class Tensor:
    dtype: str
    shape: list[int]
    begin: int
    end: int


def header_of(folder: Path) -> tuple[dict[str, Tensor], bytes]:
    raw = (folder / "model.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    assert header.pop("__metadata__") == {"format": "pt"}
    tensors = {name: Tensor(entry["dtype"], entry["shape"], *entry["data_offsets"]) for name, entry in header.items()}
    return tensors, raw[8 + length :]


def widened(data: bytes) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return (np.frombuffer(data, dtype=np.uint16).astype(np.uint32) << 16).view(np.float32)


def test_the_configuration_is_the_models_own(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    assert config["architectures"] == ["LlamaForCausalLM"]
    assert (config["hidden_size"], config["num_attention_heads"]) == (HIDDEN, HEADS)
    assert (config["num_key_value_heads"], config["head_dim"]) == (KV_HEADS, HEAD)
    assert (config["rms_norm_eps"], config["rope_theta"]) == (1e-5, 100_000.0)
    assert (config["bos_token_id"], config["eos_token_id"], config["pad_token_id"]) == (1, 2, 2)
    assert config["tie_word_embeddings"] is True
    generation = json.loads((folder / "generation_config.json").read_text())
    assert generation == {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 2}


def test_a_model_with_a_head_of_its_own_keeps_it(tmp_path: Path) -> None:
    write_tiny_gguf(tmp_path / "m.gguf", own_head=True)
    convert(tmp_path / "m.gguf", tmp_path / "out")
    assert json.loads((tmp_path / "out" / "config.json").read_text())["tie_word_embeddings"] is False
    assert "lm_head.weight" in header_of(tmp_path / "out")[0]


def test_every_weight_lies_under_its_new_name_without_a_gap(folder: Path) -> None:
    header, data = header_of(folder)
    assert "model.layers.0.self_attn.q_proj.weight" in header
    assert header["model.embed_tokens.weight"].shape == [len(TOKENS), HIDDEN]
    assert header["model.layers.0.mlp.down_proj.weight"].shape == [HIDDEN, 24]
    at = 0
    for entry in header.values():
        assert (entry.dtype, entry.begin) == ("BF16", at)
        at = entry.end
    assert at == len(data)


def test_weights_keep_their_values_as_far_as_bfloat16_can(source: Path, folder: Path) -> None:
    header, data = header_of(folder)
    weights = header["model.layers.0.mlp.up_proj.weight"]
    original = next(t for t in GGUFReader(str(source)).tensors if t.name == "blk.0.ffn_up.weight")
    assert np.allclose(widened(data[weights.begin : weights.end]), np.asarray(original.data).ravel(), rtol=2**-8)


def test_query_rows_come_back_to_two_halves_per_head() -> None:
    rows = np.arange(8, dtype=np.float32).reshape(8, 1)
    # One head of eight rows as llama.cpp has them: first of each half, second of each half, ...
    interleaved = rows[[0, 4, 1, 5, 2, 6, 3, 7]]
    assert (uninterleaved(interleaved, 1) == rows).all()
    assert (uninterleaved(np.concatenate([interleaved, interleaved + 8]), 2) == np.arange(16).reshape(16, 1)).all()


@pytest.mark.parametrize(
    ("number", "bits"),
    [(1.0, 0x3F80), (1.00390625, 0x3F80), (1.01171875, 0x3F82), (1.0040, 0x3F81), (-2.0, 0xC000), (0.0, 0)],
)
def test_rounding_is_to_the_nearest_and_to_even_at_a_tie(number: float, bits: int) -> None:
    assert as_bfloat16(np.array([number], dtype=np.float32))[0] == bits


def test_the_tokenizer_splits_digits_and_knows_the_special_tokens(folder: Path) -> None:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert tokenizer.get_vocab_size() == len(TOKENS)
    assert tokenizer.encode("<|im_start|>abc 12<|im_end|>").tokens == [
        "<|im_start|>",
        "abc",
        "Ġ",
        "1",
        "2",
        "<|im_end|>",
    ]
    assert tokenizer.decode([10, 8, 6], skip_special_tokens=False) == "abc 1"


def test_the_template_stands_where_either_reader_looks_for_it(folder: Path) -> None:
    config = json.loads((folder / "tokenizer_config.json").read_text())
    assert (folder / "chat_template.jinja").read_text() == config["chat_template"] == TEMPLATE
    assert (config["bos_token"], config["eos_token"], config["unk_token"]) == (
        "<|im_start|>",
        "<|im_end|>",
        "<|endoftext|>",
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("output_norm.weight", "model.norm.weight"),
        ("blk.29.attn_output.weight", "model.layers.29.self_attn.o_proj.weight"),
        ("blk.3.ffn_norm.weight", "model.layers.3.post_attention_layernorm.weight"),
    ],
)
def test_names_are_translated(old: str, new: str) -> None:
    assert tensor_name(old) == new


def test_another_kind_of_model_is_refused(tmp_path: Path) -> None:
    write_tiny_gguf(tmp_path / "m.gguf", architecture="gemma3")
    with pytest.raises(NotThisModel, match="gemma3"):
        convert(tmp_path / "m.gguf", tmp_path / "out")


def test_a_missing_fact_is_named() -> None:
    facts = Metadata({"llama.block_count": "three"})
    with pytest.raises(NotThisModel, match=r"llama\.block_count"):
        facts.number("block_count")
    with pytest.raises(NotThisModel, match=r"no list tokenizer\.ggml\.tokens"):
        facts.words("tokenizer.ggml.tokens")
