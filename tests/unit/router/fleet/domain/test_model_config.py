import pytest

from router.fleet.domain.model_config import UnusableConfig, model_config
from tests.unit.router.fleet.domain.five_models import LLAMA31_8B, QWEN3_8B, QWEN25_7B, model

# Embeddings and head (vocabulary x hidden, twice), then by layer: queries, keys and values, outputs, MLP, norms and
# biases.
BY_HAND = {
    "Qwen2.5-7B": 2 * 152064 * 3584
    + 28 * (3584 * 3584 + 2 * 3584 * 512 + 3584 * 3584 + 3 * 3584 * 18944 + 2 * 3584 + (3584 + 512 + 512))
    + 3584,
    "Qwen2.5-14B": 2 * 152064 * 5120
    + 48 * (5120 * 5120 + 2 * 5120 * 1024 + 5120 * 5120 + 3 * 5120 * 13824 + 2 * 5120 + (5120 + 1024 + 1024))
    + 5120,
    "Qwen2.5-32B": 2 * 152064 * 5120
    + 64 * (5120 * 5120 + 2 * 5120 * 1024 + 5120 * 5120 + 3 * 5120 * 27648 + 2 * 5120 + (5120 + 1024 + 1024))
    + 5120,
    "Qwen3-8B": 2 * 151936 * 4096
    + 36 * (4096 * 4096 + 2 * 4096 * 1024 + 4096 * 4096 + 3 * 4096 * 12288 + 2 * 4096 + 2 * 128)
    + 4096,
    "Llama-3.1-8B": 2 * 128256 * 4096
    + 32 * (4096 * 4096 + 2 * 4096 * 1024 + 4096 * 4096 + 3 * 4096 * 14336 + 2 * 4096)
    + 4096,
    "SmolLM2-135M": 49152 * 576 + 30 * (576 * 576 + 2 * 576 * 192 + 576 * 576 + 3 * 576 * 1536 + 2 * 576) + 576,
}
# The numbers of parameters in the published checkpoints.
PUBLISHED = {
    "Qwen2.5-7B": 7_615_616_512,
    "Qwen2.5-14B": 14_770_033_664,
    "Qwen2.5-32B": 32_763_876_352,
    "Qwen3-8B": 8_190_735_360,
    "Llama-3.1-8B": 8_030_261_248,
    "SmolLM2-135M": 134_515_008,
}


@pytest.mark.parametrize("name", BY_HAND)
def test_parameters_equal_the_sum_by_hand_and_the_published_number(name: str) -> None:
    assert model(name).parameters == BY_HAND[name] == PUBLISHED[name]


def test_a_head_size_that_is_not_told_is_the_hidden_size_shared_by_the_heads() -> None:
    assert model("Qwen2.5-7B").head_size == 128
    assert model_config("x", QWEN3_8B | {"head_dim": 64}).head_size == 64


def test_kv_heads_that_are_not_told_are_as_many_as_the_heads() -> None:
    told = {name: value for name, value in LLAMA31_8B.items() if name != "num_key_value_heads"}
    assert model_config("x", told).kv_heads == 32


def test_biases_are_counted_where_the_config_has_them() -> None:
    plain = model_config("x", LLAMA31_8B).parameters
    attention = model_config("x", LLAMA31_8B | {"attention_bias": True}).parameters
    assert attention - plain == 32 * (4096 + 1024 + 1024 + 4096)
    assert model_config("x", LLAMA31_8B | {"mlp_bias": True}).parameters - plain == 32 * (14336 + 14336 + 4096)


def test_a_tied_head_is_stored_once() -> None:
    tied = model_config("x", QWEN25_7B | {"tie_word_embeddings": True})
    assert PUBLISHED["Qwen2.5-7B"] - tied.parameters == 152064 * 3584


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ({}, None),
        ({"quantization_config": None}, None),
        ({"quantization_config": {"quant_method": "awq"}}, "awq"),
        ({"quantization_config": {}}, "an unnamed way"),
    ],
)
def test_a_checkpoint_says_how_it_is_quantised(said: dict[str, object], known: str | None) -> None:
    assert model_config("x", QWEN25_7B | said).quantised_as == known


@pytest.mark.parametrize("kind", ["mixtral", "deepseek_v3", "qwen2_moe", None, 3, []])
def test_a_family_that_is_not_known_is_refused_by_its_name(kind: object) -> None:
    with pytest.raises(UnusableConfig, match="not known here"):
        model_config("x", QWEN25_7B | {"model_type": kind})


@pytest.mark.parametrize("value", [None, 0, -1, True, 1.5, "28", 10_000_001])
def test_a_size_that_is_none_is_refused_by_its_name(value: object) -> None:
    with pytest.raises(UnusableConfig, match="num_hidden_layers must be a whole number"):
        model_config("x", QWEN25_7B | {"num_hidden_layers": value})


def test_heads_that_cannot_share_their_keys_are_refused() -> None:
    with pytest.raises(UnusableConfig, match="28 attention heads cannot share 5 KV heads"):
        model_config("x", QWEN25_7B | {"num_key_value_heads": 5})
