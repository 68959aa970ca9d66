"""What a planner's user is likely to believe and what is so instead: each sentence holds the figures of the plan."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from router.fleet.domain.capacity import CapacityPlan, DoesNotFit, Limit
from router.fleet.domain.class_times import class_times
from router.fleet.domain.devices import GIB
from router.fleet.domain.kv_cache import KvDtype
from router.fleet.domain.memory_budget import ReplicaSetup
from router.fleet.domain.service_curve import service_curve
from router.fleet.domain.vllm_profile import flagged_seqs
from router.fleet.domain.weights import Quantisation, weights

KIB: Final = 1024
RULE_OF_THUMB_KIB: Final = (32, 64)
CAREFUL_UTILISATION: Final = 0.85
EAGER_LEAD_SHARE: Final = 0.25
EIGHT_BITS: Final = (Quantisation.FP8, Quantisation.INT8)
FROM_CHECKPOINT: Final = (Quantisation.INT8, Quantisation.INT4)


def cautions(found: CapacityPlan | DoesNotFit) -> tuple[str, ...]:
    setup = found.asked.setup
    general = (*_of_kv(setup), *_of_weights(setup), *_of_draft(setup), *_of_utilisation(setup))
    if isinstance(found, DoesNotFit):
        return (*_of_missing_room(found), *general)
    return (*general, *_of_sessions(found), *_of_times(found), *_of_lead(found))


def _of_missing_room(found: DoesNotFit) -> Iterator[str]:
    setup, budget = found.asked.setup, found.budget
    short = f"{found.missing_bytes / GIB:.1f} GiB short of room"
    yield f"does not fit: {short} for one session of {setup.window_tokens} tokens"
    if budget.kv_bytes <= 0:
        stored = budget.weight_bytes + budget.draft_weight_bytes
        yield f"weights of {stored / GIB:.1f} GiB and what vLLM needs beside them fill the memory"


def _of_kv(setup: ReplicaSetup) -> Iterator[str]:
    model = setup.model
    token_kib = setup.kv_token_bytes / KIB
    low, high = RULE_OF_THUMB_KIB
    if not low <= token_kib <= high:
        yield f"KV takes {token_kib:g} KiB a token here; a rule of thumb of {low} to {high} KiB would be wrong"
    if model.heads > model.kv_heads:
        times = model.heads / model.kv_heads
        yield (
            f"KV is counted by its {model.kv_heads} heads; "
            f"by the {model.heads} query heads it would be {times:g} times as much"
        )
    if setup.quantisation is not Quantisation.BF16 and setup.kv_dtype is KvDtype.AUTO:
        yield f"{setup.quantisation} weights leave the KV of a session as it is; only the pool grows"


def _of_weights(setup: ReplicaSetup) -> Iterator[str]:
    model, kind = setup.model, setup.quantisation
    if kind is not Quantisation.BF16:
        stored, whole = weights(model, kind).stored_bytes, weights(model, Quantisation.BF16).stored_bytes
        yield (
            f"embeddings, head and norms stay in 16 bits and scales are added: {kind} weights take "
            f"{stored / GIB:.1f} GiB, {stored / whole:.0%} of bf16"
        )
    if kind in EIGHT_BITS and kind not in setup.device.faster_in:
        yield f"{setup.device.name} does not multiply in {kind}: it saves memory and reading, prefill is no faster"
    if kind is Quantisation.FP8 and setup.device.is_cpu:
        yield "vLLM 0.32 on a CPU makes no fp8 weights at the start: with this flag it ends"
    if kind is Quantisation.INT4:
        yield "int4 weights are multiplied in 16 bits: decoding reads less, prefill is no faster"
    if kind in FROM_CHECKPOINT:
        yield f"vLLM takes {kind} from the checkpoint: give it one quantised so, no flag does it"
    if model.quantised_as is not None and kind is Quantisation.BF16:
        yield f"the checkpoint says that it is quantised ({model.quantised_as}); name its bits with --quantization"


def _of_draft(setup: ReplicaSetup) -> Iterator[str]:
    draft = setup.draft
    if draft is not None and draft.vocabulary != setup.model.vocabulary:
        yield (
            f"{draft.name} has a vocabulary of {draft.vocabulary}, {setup.model.name} one of {setup.model.vocabulary}: "
            "a draft model must share its model's"
        )


def _of_utilisation(setup: ReplicaSetup) -> Iterator[str]:
    if not setup.device.is_cpu and setup.utilisation < CAREFUL_UTILISATION:
        kept = 1 - setup.utilisation
        yield f"a utilisation of {setup.utilisation:.2f} keeps {kept:.0%} free already; more headroom counts it twice"


def _of_sessions(plan: CapacityPlan) -> Iterator[str]:
    setup, turns = plan.asked.setup, plan.asked.turns
    if turns.context_tokens < setup.window_tokens:
        yield (
            f"{plan.average_sessions} sessions fit at {turns.context_tokens} tokens on average, {plan.window_sessions} "
            f"when all have grown to the window of {setup.window_tokens}: the plan counts on the second"
        )
    if setup.max_num_seqs > plan.window_sessions:
        yield (
            f"max-num-seqs {setup.max_num_seqs} lets in more than the {plan.window_sessions} whole windows that KV "
            f"holds: vLLM would preempt and compute prompts again; the flags say {flagged_seqs(plan)}"
        )
    if plan.limit is Limit.TIME:
        yield f"time, not memory, keeps a replica from more than {plan.trainees_per_replica} of the class"


def _of_times(plan: CapacityPlan) -> Iterator[str]:
    targets, times = plan.asked.targets, plan.times
    if not plan.meets_targets:
        yield "the time limits are missed even by a trainee alone: more replicas do not help, so memory alone counted"
    if times.bell_last_s > targets.ttft_p95_s:
        yield (
            f"when all send their first message at the bell, the last of a replica's {plan.trainees_per_replica} waits "
            f"{times.bell_last_s:.1f} s for it to begin; let the class begin over some seconds"
        )
    if plan.asked.setup.speculation is not None and _speculation_loses(plan):
        yield "speculation makes a token slower here: guessed tokens cost more than they save at this load"


def _of_lead(plan: CapacityPlan) -> Iterator[str]:
    if plan.measured_cost is None and plan.cost.lead_share > EAGER_LEAD_SHARE:
        yield (
            f"{plan.cost.lead_share:.0%} of the replica hours pass before the bell; a lead from the measured time to "
            "start (--measured-start) saves most of them"
        )


def _speculation_loses(plan: CapacityPlan) -> bool:
    turns = plan.asked.turns
    plain = service_curve(replace(plan.asked.setup, speculation=None), context_tokens=turns.context_tokens)
    return class_times(plain, turns, trainees=plan.trainees_per_replica).token_s < plan.times.token_s
