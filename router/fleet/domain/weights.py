"""How many bytes a model's weights take, and how many of them each token reads.

Only the matrices of the layers are quantised. Embeddings, output head, norms and biases stay at two bytes each, as vLLM
keeps them by default; so an "8-bit" 7B model takes more than half of its bfloat16 size. Bytes of a matrix of i inputs
and o outputs:

    bf16   2io                                     bfloat16 or float16
    fp8    io + 4o                                 a float32 scale per output
    int8   io + 4o                                 a float32 scale per output
    int4   io/2 + 2go + go/2  with g = ceil(i/128) a bfloat16 scale and a 4-bit zero point for each group of 128 inputs

Source: the layouts of compressed-tensors (fp8, int8) and of AWQ and GPTQ with their usual group of 128 (int4).
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, assert_never

from router.fleet.domain.model_config import Matrix, ModelConfig

VALUE_BYTES: Final = 2
SCALE_BYTES: Final = 4
GROUP: Final = 128


class Quantisation(StrEnum):
    BF16 = "bf16"
    FP8 = "fp8"
    INT8 = "int8"
    INT4 = "int4"


@dataclass(frozen=True, slots=True)
class Weights:
    stored_bytes: int
    read_bytes: int
    """Read for every step of decoding: all but the embeddings, of which a step looks up single rows."""


def weights(model: ModelConfig, quantisation: Quantisation) -> Weights:
    layer = sum(matrix_bytes(matrix, quantisation) for matrix in model.layer_matrices)
    plain = VALUE_BYTES * (model.embedding_parameters + model.head_parameters + model.extra_parameters)
    stored = model.layers * layer + plain
    looked_up = 0 if model.tied else VALUE_BYTES * model.embedding_parameters
    return Weights(stored_bytes=stored, read_bytes=stored - looked_up)


def matrix_bytes(matrix: Matrix, quantisation: Quantisation) -> int:
    match quantisation:
        case Quantisation.BF16:
            return VALUE_BYTES * matrix.parameters
        case Quantisation.FP8 | Quantisation.INT8:
            return matrix.parameters + SCALE_BYTES * matrix.outputs
        case Quantisation.INT4:
            groups = -(-matrix.inputs // GROUP) * matrix.outputs
            return -(-matrix.parameters // 2) + VALUE_BYTES * groups + -(-groups // 2)
        case never:
            assert_never(never)
