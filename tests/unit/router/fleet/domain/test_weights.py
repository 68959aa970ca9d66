import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.fleet.domain.model_config import Matrix
from router.fleet.domain.weights import Quantisation, matrix_bytes, weights
from tests.unit.router.fleet.domain.five_models import TOLD, model

GIB = 2**30


@pytest.mark.parametrize(
    ("name", "gib"),
    [("Qwen2.5-7B", 14.2), ("Qwen2.5-14B", 27.5), ("Qwen2.5-32B", 61.0), ("Qwen3-8B", 15.3), ("Llama-3.1-8B", 15.0)],
)
def test_bfloat16_takes_two_bytes_a_parameter(name: str, gib: float) -> None:
    stored = weights(model(name), Quantisation.BF16).stored_bytes
    assert stored == 2 * model(name).parameters
    assert round(stored / GIB, 1) == gib


def test_qwen25_7b_in_eight_bits_by_hand() -> None:
    # A layer's seven matrices: 3584x3584 twice, 3584x512 twice, 3584x18944 three times, with one float32 scale an
    # output.
    numbers = 2 * 3584 * 3584 + 2 * 3584 * 512 + 3 * 3584 * 18944
    outputs = 3584 + 512 + 512 + 3584 + 18944 + 18944 + 3584
    norms_and_biases = 28 * (2 * 3584 + 3584 + 512 + 512) + 3584
    plain = 2 * (2 * 152064 * 3584 + norms_and_biases)
    by_hand = 28 * (numbers + 4 * outputs) + plain
    assert weights(model("Qwen2.5-7B"), Quantisation.INT8).stored_bytes == by_hand
    assert weights(model("Qwen2.5-7B"), Quantisation.FP8).stored_bytes == by_hand
    assert round(by_hand / GIB, 2) == 8.11  # not the 7.1 of "one byte a parameter"


def test_llama31_8b_in_four_bits_by_hand() -> None:
    # Groups of 128 inputs, each with a bfloat16 scale and half a byte of zero point: 4096 / 128 = 32 and 14336 / 128 =
    # 112 an output.
    numbers = 2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336
    groups = 32 * (4096 + 1024 + 1024 + 4096 + 14336 + 14336) + 112 * 4096
    by_hand = 32 * (numbers // 2 + 2 * groups + groups // 2) + 2 * (2 * 128256 * 4096 + 32 * 2 * 4096 + 4096)
    assert weights(model("Llama-3.1-8B"), Quantisation.INT4).stored_bytes == by_hand
    assert round(by_hand / GIB, 2) == 5.33  # not the 3.7 of "half a byte a parameter"


def test_a_step_reads_all_but_the_embeddings_unless_they_are_the_head_too() -> None:
    untied = weights(model("Qwen3-8B"), Quantisation.BF16)
    assert untied.stored_bytes - untied.read_bytes == 2 * 151936 * 4096
    tied = weights(model("SmolLM2-135M"), Quantisation.BF16)
    assert tied.read_bytes == tied.stored_bytes


def test_a_group_that_is_not_full_has_its_scale_all_the_same() -> None:
    assert matrix_bytes(Matrix(129, 3), Quantisation.INT4) == 194 + 2 * 6 + 3


@pytest.mark.parametrize("name", TOLD)
def test_fewer_bits_take_fewer_bytes(name: str) -> None:
    sizes = [weights(model(name), q).stored_bytes for q in (Quantisation.BF16, Quantisation.FP8, Quantisation.INT4)]
    assert sizes == sorted(sizes, reverse=True)


@given(st.integers(1, 10_000), st.integers(1, 10_000), st.sampled_from(Quantisation))
def test_a_matrix_takes_at_least_its_numbers(inputs: int, outputs: int, quantisation: Quantisation) -> None:
    bits = {Quantisation.BF16: 16, Quantisation.FP8: 8, Quantisation.INT8: 8, Quantisation.INT4: 4}[quantisation]
    assert matrix_bytes(Matrix(inputs, outputs), quantisation) * 8 >= inputs * outputs * bits
