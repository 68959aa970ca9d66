from collections.abc import Callable
from dataclasses import replace

import pytest

from router.fleet.domain.capacity import Asked, CapacityPlan, Targets, plan_capacity
from router.fleet.domain.cautions import cautions
from router.fleet.domain.devices import CPU, GIB
from router.fleet.domain.kv_cache import KvDtype
from router.fleet.domain.speculation import Speculation
from router.fleet.domain.weights import Quantisation
from tests.unit.router.fleet.domain.five_models import model
from tests.unit.router.fleet.domain.test_capacity import asked
from tests.unit.router.fleet.domain.test_memory_budget import with_memory

QUIET = replace(
    asked("Qwen2.5-7B", trainees=1, targets=Targets(ttft_p95_s=60, token_s=1)),
    setup=replace(asked("Qwen2.5-7B").setup, max_num_seqs=64),
    turns=replace(asked("Qwen2.5-7B").turns, context_tokens=4096),
    tariff=replace(asked("Qwen2.5-7B").tariff, lead_s=600),
)
Change = Callable[[Asked], Asked]


def of_setup(**changes: object) -> Change:
    return lambda one: replace(one, setup=replace(one.setup, **changes))  # type: ignore[arg-type]


def told(one: Asked) -> str:
    return "\n".join(cautions(plan_capacity(one)))


def test_a_plain_plan_says_only_how_kv_is_counted() -> None:
    assert told(QUIET) == "KV is counted by its 4 heads; by the 28 query heads it would be 7 times as much"


def test_a_model_without_shared_heads_has_nothing_to_say_of_them() -> None:
    plain = replace(QUIET.setup.model, heads=4, kv_heads=4)
    assert told(of_setup(model=plain)(QUIET)) == ""


SAID: list[tuple[str, Change]] = [
    (
        "KV takes 256 KiB a token here; a rule of thumb of 32 to 64 KiB",
        of_setup(model=model("Qwen2.5-32B"), quantisation=Quantisation.INT4),
    ),
    ("KV takes 28 KiB a token here", of_setup(kv_dtype=KvDtype.FP8)),
    ("int8 weights leave the KV of a session as it is", of_setup(quantisation=Quantisation.INT8)),
    ("int8 weights take 8.1 GiB, 57% of bf16", of_setup(quantisation=Quantisation.INT8)),
    ("vLLM takes int4 from the checkpoint", of_setup(quantisation=Quantisation.INT4)),
    ("int4 weights are multiplied in 16 bits", of_setup(quantisation=Quantisation.INT4)),
    (
        "a100-80g does not multiply in fp8",
        of_setup(device=asked("Qwen2.5-7B", on="a100-80g").setup.device, quantisation=Quantisation.FP8),
    ),
    ("the checkpoint says that it is quantised (awq)", of_setup(model=replace(QUIET.setup.model, quantised_as="awq"))),
    (
        "Qwen3-8B has a vocabulary of 151936, Qwen2.5-7B one of 152064",
        of_setup(
            speculation=Speculation(tokens=2, acceptance=0.5, draft=model("Qwen3-8B")), quantisation=Quantisation.INT4
        ),
    ),
    ("a utilisation of 0.80 keeps 20% free already", of_setup(utilisation=0.80)),
    (
        "sessions fit at 3000 tokens on average, 119 when all",
        lambda one: replace(one, turns=replace(one.turns, context_tokens=3000)),
    ),
    ("max-num-seqs 256 lets in more than the 118 whole windows", of_setup(max_num_seqs=256)),
    (
        "time, not memory, keeps a replica from more than",
        lambda one: replace(one, trainees=300, targets=Targets(ttft_p95_s=60, token_s=0.027)),
    ),
    ("missed even by a trainee alone", lambda one: replace(one, targets=Targets(ttft_p95_s=60, token_s=0.001))),
    (
        "the last of a replica's 100 waits",
        lambda one: replace(one, trainees=100, targets=Targets(ttft_p95_s=1.5, token_s=1)),
    ),
    (
        "speculation makes a token slower here",
        of_setup(
            speculation=Speculation(tokens=8, acceptance=0.01, draft=model("Qwen3-8B")), quantisation=Quantisation.INT4
        ),
    ),
    (
        "30% of the replica hours pass before the bell",
        lambda one: replace(one, tariff=replace(one.tariff, lead_s=1800)),
    ),
]


@pytest.mark.parametrize(("sentence", "change"), SAID, ids=[sentence for sentence, _ in SAID])
def test_a_caution_is_said_where_it_holds_and_nowhere_else(sentence: str, change: Change) -> None:
    assert sentence not in told(QUIET)
    assert sentence in told(change(QUIET))


def test_speculation_that_wins_is_not_warned_of() -> None:
    assert "slower" not in told(of_setup(speculation=Speculation(tokens=4, acceptance=0.8, draft=None))(QUIET))


def test_a_cpu_is_not_told_to_make_fp8() -> None:
    one = asked("SmolLM2-135M", on=CPU)
    assert "no fp8 weights" in told(of_setup(quantisation=Quantisation.FP8)(one))
    assert "no fp8 weights" not in told(one)


def test_a_measured_lead_is_not_asked_for_again() -> None:
    long = replace(QUIET, tariff=replace(QUIET.tariff, lead_s=1800, measured_start_s=150.0))
    assert "before the bell" not in told(long)


def test_what_does_not_fit_says_so_first() -> None:
    short = plan_capacity(asked("Qwen2.5-32B"))
    assert not isinstance(short, CapacityPlan)
    first, second = cautions(short)[:2]
    assert first == f"does not fit: {short.missing_bytes / GIB:.1f} GiB short of room for one session of 4096 tokens"
    assert second == "weights of 61.0 GiB and what vLLM needs beside them fill the memory"


def test_weights_that_fit_without_room_for_a_window_are_another_matter() -> None:
    one = asked("SmolLM2-135M", on=CPU)
    long = replace(one, setup=replace(with_memory(one.setup, 3 * GIB + GIB // 2), window_tokens=60_000))
    said = told(long)
    assert said.startswith("does not fit: ")
    assert "fill the memory" not in said
