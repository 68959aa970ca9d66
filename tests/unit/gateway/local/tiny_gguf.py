"""A model file of the bundled model's kind, small enough to be made for each test."""

from pathlib import Path

import numpy as np
from gguf import GGUFWriter

HIDDEN, HEADS, KV_HEADS, INNER, HEAD = 16, 4, 2, 24, 4
# As in the real one: special tokens first, then bytes and merges.
TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *"abc12", "Ġ", "ab", "abc"]
MERGES = ["a b", "ab c"]
TEMPLATE = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"


def write_tiny_gguf(file: Path, *, architecture: str = "llama", own_head: bool = False) -> None:
    writer = GGUFWriter(str(file), architecture)
    _facts(writer)
    rng = np.random.default_rng(7)
    shapes = {
        "token_embd": (len(TOKENS), HIDDEN),
        "output_norm": (HIDDEN,),
        "blk.0.attn_norm": (HIDDEN,),
        "blk.0.ffn_norm": (HIDDEN,),
        "blk.0.attn_q": (HEADS * HEAD, HIDDEN),
        "blk.0.attn_k": (KV_HEADS * HEAD, HIDDEN),
        "blk.0.attn_v": (KV_HEADS * HEAD, HIDDEN),
        "blk.0.attn_output": (HIDDEN, HEADS * HEAD),
        "blk.0.ffn_gate": (INNER, HIDDEN),
        "blk.0.ffn_up": (INNER, HIDDEN),
        "blk.0.ffn_down": (HIDDEN, INNER),
    } | ({"output": (len(TOKENS), HIDDEN)} if own_head else {})
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", rng.standard_normal(shape, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _facts(writer: GGUFWriter) -> None:
    writer.add_vocab_size(len(TOKENS))
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(INNER)
    writer.add_block_count(1)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_rope_dimension_count(HEAD)
    writer.add_rope_freq_base(100_000.0)
    writer.add_context_length(8192)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(TOKENS)
    writer.add_token_types([3, 3, 3, *[1] * (len(TOKENS) - 3)])
    writer.add_token_merges(MERGES)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_pad_token_id(2)
    writer.add_chat_template(TEMPLATE)
