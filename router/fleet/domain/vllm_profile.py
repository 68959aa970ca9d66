"""A plan as options of vLLM: on a command line, and as the file that `vllm serve --config` reads."""

from typing import Final

from router.fleet.domain.capacity import CapacityPlan
from router.fleet.domain.devices import GIB
from router.fleet.domain.vllm_flags import FlagValue, command_text
from router.fleet.domain.vllm_options import DraftModel, Ngram, SchedulingPolicy, VllmOptions, flags_of, yaml_lines
from router.fleet.domain.weights import Quantisation

SHUTDOWN_S: Final = 60
"""As docker-compose.yml gives running replies before a replica ends."""
MARK: Final = "# A profile of `drillyard capacity`"


def flagged_seqs(plan: CapacityPlan) -> int:
    """`--max-num-seqs`: as asked, and never more than the whole windows that KV holds."""
    return min(plan.asked.setup.max_num_seqs, plan.window_sessions)


def planned_options(plan: CapacityPlan) -> VllmOptions:
    setup = plan.asked.setup
    on_cpu = setup.device.is_cpu
    return VllmOptions(
        max_model_len=setup.window_tokens,
        max_num_seqs=flagged_seqs(plan),
        max_num_batched_tokens=setup.max_num_batched_tokens,
        # Room for the sessions of a neighbour that failed; beyond it the replica says 503 instead of queueing without
        # end.
        max_num_queued_reqs=2 * plan.window_sessions,
        kv_cache_dtype=setup.kv_dtype.value,
        enable_prefix_caching=True,
        enable_prompt_tokens_details=True,
        scheduling_policy=SchedulingPolicy.PRIORITY,
        shutdown_timeout=SHUTDOWN_S,
        dtype="bfloat16" if on_cpu else None,
        block_size=setup.block_tokens if on_cpu else None,
        gpu_memory_utilization=None if on_cpu else setup.utilisation,
        enforce_eager=True if setup.eager else None,
        quantization="fp8" if setup.quantisation is Quantisation.FP8 else None,
        speculation=_speculation(plan),
    )


def vllm_flags(plan: CapacityPlan) -> dict[str, FlagValue]:
    return flags_of(planned_options(plan))


def _speculation(plan: CapacityPlan) -> Ngram | DraftModel | None:
    speculation = plan.asked.setup.speculation
    if speculation is None:
        return None
    if speculation.draft is None:
        return Ngram(speculation.tokens)
    return DraftModel(speculation.draft.name, speculation.tokens)


def environment(plan: CapacityPlan) -> dict[str, str]:
    """What vLLM wants to be told outside of its flags."""
    return {"VLLM_CPU_KVCACHE_SPACE": str(plan.budget.kv_bytes // GIB)} if plan.asked.setup.device.is_cpu else {}


def command_line(plan: CapacityPlan) -> str:
    before = [f"{name}={value}" for name, value in environment(plan).items()]
    return " ".join([*before, command_text(vllm_flags(plan))])


def profile_text(plan: CapacityPlan) -> str:
    """YAML of plain scalars, quoted where a name needs it: `vllm serve MODEL --config FILE`."""
    asked = plan.asked
    variables = "".join(f"{name}={value} " for name, value in environment(plan).items())
    head = (
        f"{MARK}: {asked.setup.model.name}, {asked.setup.quantisation}, on {asked.setup.device.name}.\n"
        f"# {plan.window_sessions} sessions of {asked.setup.window_tokens} tokens a replica; computed, not measured.\n"
        f"#   {variables}vllm serve MODEL --config FILE\n"
    )
    return head + yaml_lines(vllm_flags(plan))
