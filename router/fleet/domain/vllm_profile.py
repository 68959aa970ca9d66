"""A plan as flags of `vllm serve`: on a command line, and as the file that its `--config` reads."""

import json
import re
import shlex
from typing import Final

from router.fleet.domain.capacity import CapacityPlan
from router.fleet.domain.devices import GIB
from router.fleet.domain.weights import Quantisation

Flag = str | int | float | bool
SHUTDOWN_S: Final = 60
"""As docker-compose.yml gives running replies before a replica ends."""
PLAIN: Final = re.compile(r"[A-Za-z/][\w./-]*", re.ASCII)
MARK: Final = "# A profile of `drillyard capacity`"


def flagged_seqs(plan: CapacityPlan) -> int:
    """`--max-num-seqs`: as asked, and never more than the whole windows that KV holds."""
    return min(plan.asked.setup.max_num_seqs, plan.window_sessions)


def vllm_flags(plan: CapacityPlan) -> dict[str, Flag]:
    setup = plan.asked.setup
    flags: dict[str, Flag] = {
        "max-model-len": setup.window_tokens,
        "max-num-seqs": flagged_seqs(plan),
        "max-num-batched-tokens": setup.max_num_batched_tokens,
        # Room for the sessions of a neighbour that failed; beyond it the replica says 503 instead of queueing without
        # end.
        "max-num-queued-reqs": 2 * plan.window_sessions,
        "kv-cache-dtype": setup.kv_dtype.value,
        "enable-prefix-caching": True,
        "enable-prompt-tokens-details": True,
        "scheduling-policy": "priority",
        "shutdown-timeout": SHUTDOWN_S,
    }
    if setup.device.is_cpu:
        flags |= {"dtype": "bfloat16", "block-size": setup.block_tokens}
    else:
        flags |= {"gpu-memory-utilization": setup.utilisation}
    if setup.eager:
        flags |= {"enforce-eager": True}
    if setup.quantisation is Quantisation.FP8:
        flags |= {"quantization": "fp8"}
    return flags | _speculation(plan)


def _speculation(plan: CapacityPlan) -> dict[str, Flag]:
    speculation = plan.asked.setup.speculation
    if speculation is None:
        return {}
    if speculation.draft is None:
        return {"spec-method": "ngram", "spec-tokens": speculation.tokens}
    return {"spec-method": "draft_model", "spec-model": speculation.draft.name, "spec-tokens": speculation.tokens}


def environment(plan: CapacityPlan) -> dict[str, str]:
    """What vLLM wants to be told outside of its flags."""
    return {"VLLM_CPU_KVCACHE_SPACE": str(plan.budget.kv_bytes // GIB)} if plan.asked.setup.device.is_cpu else {}


def command_line(plan: CapacityPlan) -> str:
    before = [f"{name}={value}" for name, value in environment(plan).items()]
    words = [
        f"--{name}" if value is True else f"--{name} {shlex.quote(str(value))}"
        for name, value in vllm_flags(plan).items()
    ]
    return " ".join([*before, "vllm serve MODEL", *words])


def profile_text(plan: CapacityPlan) -> str:
    """YAML of plain scalars, quoted where a name needs it: `vllm serve MODEL --config FILE`."""
    asked = plan.asked
    variables = "".join(f"{name}={value} " for name, value in environment(plan).items())
    head = (
        f"{MARK}: {asked.setup.model.name}, {asked.setup.quantisation}, on {asked.setup.device.name}.\n"
        f"# {plan.window_sessions} sessions of {asked.setup.window_tokens} tokens a replica; computed, not measured.\n"
        f"#   {variables}vllm serve MODEL --config FILE\n"
    )
    return head + "".join(f"{name}: {_scalar(value)}\n" for name, value in vllm_flags(plan).items())


def _scalar(value: Flag) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value) if isinstance(value, str) and not PLAIN.fullmatch(value) else str(value)
