"""What a model's `config.json` says about its size: shapes and parameters, nothing of its words.

Shapes are counts of numbers, never bytes. A layer of the known families (Llama, Mistral, Qwen2, Qwen3) holds, with
hidden size h, query heads q, KV heads k, head size d and MLP width m:

    attention  q_proj h x qd,  k_proj and v_proj h x kd,  o_proj qd x h
    MLP        gate_proj and up_proj h x m,  down_proj m x h
    norms      2h, and 2d more where queries and keys are normalised (Qwen3)

Around the layers stand the embeddings (vocabulary x h), a last norm (h) and, unless it is tied to the embeddings, the
output head (h x vocabulary). Source: the modelling code of these families in Hugging Face transformers; the sums equal
the parameter counts that the model cards give.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

LARGEST_SIZE: Final = 10_000_000
"""Beyond any real dimension: what is larger is a typing error, and would make every figure senseless."""


class UnusableConfig(ValueError):
    """A `config.json` whose model's memory cannot be told; the message says why."""


@dataclass(frozen=True, slots=True)
class Family:
    biased_qkv: bool
    normed_qk: bool


FAMILIES: Final[Mapping[str, Family]] = {
    "llama": Family(biased_qkv=False, normed_qk=False),
    "mistral": Family(biased_qkv=False, normed_qk=False),
    "qwen2": Family(biased_qkv=True, normed_qk=False),
    "qwen3": Family(biased_qkv=False, normed_qk=True),
}


@dataclass(frozen=True, slots=True)
class Matrix:
    """The weights of one linear layer: `inputs` x `outputs`."""

    inputs: int
    outputs: int

    @property
    def parameters(self) -> int:
        return self.inputs * self.outputs


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    name: str
    hidden: int
    mlp_width: int
    layers: int
    heads: int
    kv_heads: int
    head_size: int
    vocabulary: int
    tied: bool
    layer_extras: int
    """Parameters of a layer outside its matrices: norms and biases."""
    longest_context: int
    quantised_as: str | None
    """What `quantization_config` says of the checkpoint, where there is one."""

    @property
    def layer_matrices(self) -> tuple[Matrix, ...]:
        queries, keys = self.heads * self.head_size, self.kv_heads * self.head_size
        return (
            Matrix(self.hidden, queries),
            Matrix(self.hidden, keys),
            Matrix(self.hidden, keys),
            Matrix(queries, self.hidden),
            Matrix(self.hidden, self.mlp_width),
            Matrix(self.hidden, self.mlp_width),
            Matrix(self.mlp_width, self.hidden),
        )

    @property
    def embedding_parameters(self) -> int:
        return self.vocabulary * self.hidden

    @property
    def head_parameters(self) -> int:
        """Of the output head as it is stored: nothing when it is the embeddings again."""
        return 0 if self.tied else self.embedding_parameters

    @property
    def matrix_parameters(self) -> int:
        return self.layers * sum(matrix.parameters for matrix in self.layer_matrices)

    @property
    def extra_parameters(self) -> int:
        return self.layers * self.layer_extras + self.hidden

    @property
    def parameters(self) -> int:
        return self.embedding_parameters + self.head_parameters + self.matrix_parameters + self.extra_parameters


def model_config(name: str, told: Mapping[str, object]) -> ModelConfig:
    """Read the fields of a `config.json`; refuse a model whose layers are not known here rather than guess."""
    family = _family(told)
    hidden, heads = _size(told, "hidden_size"), _size(told, "num_attention_heads")
    kv_heads = _size(told, "num_key_value_heads", default=heads)
    if heads % kv_heads:
        raise UnusableConfig(f"{heads} attention heads cannot share {kv_heads} KV heads")
    head_size, mlp_width = _size(told, "head_dim", default=max(1, hidden // heads)), _size(told, "intermediate_size")
    return ModelConfig(
        name=name,
        hidden=hidden,
        mlp_width=mlp_width,
        layers=_size(told, "num_hidden_layers"),
        heads=heads,
        kv_heads=kv_heads,
        head_size=head_size,
        vocabulary=_size(told, "vocab_size"),
        tied=told.get("tie_word_embeddings") is True,
        layer_extras=2 * hidden
        + (2 * head_size if family.normed_qk else 0)
        + _biases(told, family, hidden=hidden, qkv=(heads + 2 * kv_heads) * head_size, mlp_width=mlp_width),
        longest_context=_size(told, "max_position_embeddings"),
        quantised_as=_quantised_as(told),
    )


def _family(told: Mapping[str, object]) -> Family:
    kind = told.get("model_type")
    family = FAMILIES.get(kind) if isinstance(kind, str) else None
    if family is None:
        known = ", ".join(FAMILIES)
        raise UnusableConfig(f"the memory of model_type {kind!r} is not known here, only that of {known}")
    return family


def _biases(told: Mapping[str, object], family: Family, *, hidden: int, qkv: int, mlp_width: int) -> int:
    """`attention_bias` gives queries, keys, values and outputs a bias, and `mlp_bias` the three matrices of the MLP."""
    everywhere = told.get("attention_bias") is True
    attention = (qkv if everywhere or family.biased_qkv else 0) + (hidden if everywhere else 0)
    return attention + (2 * mlp_width + hidden if told.get("mlp_bias") is True else 0)


def _size(told: Mapping[str, object], field: str, *, default: int | None = None) -> int:
    value = told.get(field)
    if value is None and default is not None:
        return default
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= LARGEST_SIZE:
        raise UnusableConfig(f"{field} must be a whole number from 1 to {LARGEST_SIZE}, not {value!r}")
    return value


def _quantised_as(told: Mapping[str, object]) -> str | None:
    said = told.get("quantization_config")
    return str(said.get("quant_method", "an unnamed way")) if isinstance(said, Mapping) else None
