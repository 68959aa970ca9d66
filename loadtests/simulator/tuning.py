"""What the flags of one replica say instead of its profile, each under vLLM's name for it."""

from dataclasses import dataclass, replace

from loadtests.simulator.domain.profile import Profile, flaws
from loadtests.simulator.profile_files import UnusableProfile


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """None: as the profile has it."""

    max_model_len: int | None = None
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    max_num_queued_reqs: int | None = None
    block_size: int | None = None
    blocks: int | None = None
    load_s: float | None = None


def tuned(profile: Profile, tuning: Tuning) -> Profile:
    limits, memory, start_up = profile.limits, profile.memory, profile.start_up
    limits = replace(
        limits,
        window_tokens=limits.window_tokens if tuning.max_model_len is None else tuning.max_model_len,
        max_sequences=limits.max_sequences if tuning.max_num_seqs is None else tuning.max_num_seqs,
        block_tokens=limits.block_tokens if tuning.block_size is None else tuning.block_size,
        max_batched_tokens=(
            limits.max_batched_tokens if tuning.max_num_batched_tokens is None else tuning.max_num_batched_tokens
        ),
        max_queued_requests=(
            limits.max_queued_requests if tuning.max_num_queued_reqs is None else tuning.max_num_queued_reqs
        ),
    )
    memory = replace(memory, blocks=memory.blocks if tuning.blocks is None else tuning.blocks)
    start_up = replace(start_up, load_s=start_up.load_s if tuning.load_s is None else tuning.load_s)
    whole = replace(profile, limits=limits, memory=memory, start_up=start_up)
    if found := "; ".join(flaws(whole)):
        raise UnusableProfile(found)
    return whole
