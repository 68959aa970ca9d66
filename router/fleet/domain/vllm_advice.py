"""What of a replica's options contradicts itself, or the service around it: each with what to do about it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from router.fleet.domain.vllm_flags import SECRETS, EngineFacts, Finding, Flags, Weight, read_flags
from router.fleet.domain.vllm_options import SchedulingPolicy, VllmOptions, options_of

FITS: Final = -1
LEAST: Final = {
    "max-num-seqs": 1,
    "max-num-batched-tokens": 1,
    "max-num-queued-reqs": 0,
    "max-num-queued-tokens": 0,
    "shutdown-timeout": 0,
    "block-size": 1,
    "spec-tokens": 1,
    "tensor-parallel-size": 1,
}
SHORT_FORMS: Final = {"spec-method": "method", "spec-model": "model", "spec-tokens": "num_speculative_tokens"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Where the replica runs, and who asks it."""

    grace_s: float = 75.0
    """From SIGTERM to SIGKILL, as docker-compose.yml has it."""
    window_tokens: int | None = None
    """What the gateway counts with; None: it is not known."""
    sends_priorities: bool = False


@dataclass(frozen=True, slots=True)
class CheckedProfile:
    flags: Flags
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> int:
        return sum(finding.weight is Weight.ERROR for finding in self.findings)


def check(written: Flags, facts: EngineFacts, around: Surroundings) -> CheckedProfile:
    read = read_flags(written, facts)
    options = options_of(read.values)
    wrong = {finding.flag.replace("_", "-") for finding in read.findings}
    advice = (
        *_of_bounds(read.values),
        *_of_room(options),
        *_of_window(options, around),
        *_of_ends(options, around),
        *_of_router(options, around),
        *_of_speculation(read.values),
        *_of_dangers(read.values),
    )
    # Of what is written wrongly it is not known what it was to be.
    return CheckedProfile(read.values, (*read.findings, *(one for one in advice if one.flag not in wrong)))


def _of_bounds(flags: Flags) -> Iterator[Finding]:
    for name, least in LEAST.items():
        value = flags.get(name)
        if isinstance(value, int) and value < least:
            yield _error(name, f"is {value}", f"write {least} or more")
    share = flags.get("gpu-memory-utilization")
    if isinstance(share, float) and not 0 < share <= 1:
        yield _error(
            "gpu-memory-utilization", f"is {share:g}", "it is a share of the card's whole memory: above 0, up to 1"
        )


def _of_room(options: VllmOptions) -> Iterator[Finding]:
    step, window, seqs = options.max_num_batched_tokens, options.max_model_len, options.max_num_seqs
    if step is None:
        return
    if options.enable_chunked_prefill is False and window is not None and step < window:
        yield _error(
            "max-num-batched-tokens",
            f"is {step}, less than the {window} of max-model-len, and chunked prefill is off",
            f"write {window} or more, or leave enable-chunked-prefill on",
        )
    if seqs is not None and step < seqs:
        yield _error(
            "max-num-batched-tokens",
            f"is {step}, less than the {seqs} of max-num-seqs",
            f"write {seqs} or more: each sequence has one token in a step at least",
        )


def _of_window(options: VllmOptions, around: Surroundings) -> Iterator[Finding]:
    window, counted = options.max_model_len, around.window_tokens
    if window is None or window == FITS:
        yield _warning(
            "max-model-len",
            "is left to the engine, while the gateway counts prompts by a window of its own",
            "write the gateway's window_tokens",
        )
    elif window < 1:
        yield _error("max-model-len", f"is {window}", "write a number of tokens, or auto")
    elif counted is not None and window < counted:
        yield _error(
            "max-model-len",
            f"is {window}, while the gateway counts with {counted}: longer prompts are refused with 400",
            f"write {counted}, or lower the gateway's window_tokens",
        )


def _of_ends(options: VllmOptions, around: Surroundings) -> Iterator[Finding]:
    wait = options.shutdown_timeout
    if not wait:
        yield _warning("shutdown-timeout", "is 0: a stop cuts running replies off", "write 60")
    elif wait >= around.grace_s:
        yield _error(
            "shutdown-timeout",
            f"is {wait} s, and the replica is killed after {around.grace_s:g} s",
            "lower it, or raise the grace (stop_grace_period, terminationGracePeriodSeconds) above it by 10 s",
        )


def _of_router(options: VllmOptions, around: Surroundings) -> Iterator[Finding]:
    if options.enable_prefix_caching is False:
        yield _warning(
            "enable-prefix-caching",
            "is off: each turn computes the whole conversation anew, and affinity gains nothing",
            "leave it on",
        )
    if not options.enable_prompt_tokens_details:
        yield _warning(
            "enable-prompt-tokens-details",
            "is off: nobody sees how much of a prompt was cached, neither the router nor a warm-up",
            "write true",
        )
    if options.max_num_queued_reqs is None and options.max_num_queued_tokens is None:
        yield _warning(
            "max-num-queued-reqs",
            "is not set: turns queue without end where the router would go elsewhere",
            "write about twice the sessions of a replica",
        )
    if around.sends_priorities and options.scheduling_policy is not SchedulingPolicy.PRIORITY:
        yield _warning(
            "scheduling-policy",
            "is fcfs, while the router sends priorities: the engine takes them and goes by none",
            "write priority, or set DRILLYARD_ROUTER__ENGINE_PRIORITY=false",
        )


def _of_speculation(flags: Flags) -> Iterator[Finding]:
    whole = flags.get("speculative-config")
    fields = {str(name).replace("-", "_") for name in whole} if isinstance(whole, dict) else set()
    for name, field in SHORT_FORMS.items():
        if name in flags and field in fields:
            yield _error(name, "stands in speculative-config too", "keep one of them")
    method, tokens, model = (flags.get(name) for name in ("spec-method", "spec-tokens", "spec-model"))
    if method in ("ngram", "draft_model") and tokens is None and "num_speculative_tokens" not in fields:
        yield _error("spec-method", f"is {method} without spec-tokens", "write how many tokens are guessed, such as 4")
    if method == "draft_model" and model is None and "model" not in fields:
        yield _error("spec-method", "is draft_model without spec-model", "write where the draft model is")
    if tokens is not None and method is None and model is None and not fields:
        yield _error("spec-tokens", "is set without a method", "write spec-method: ngram, or leave it out")


def _of_dangers(flags: Flags) -> Iterator[Finding]:
    for name in sorted(SECRETS & flags.keys()):
        yield _warning(name, "is a secret, in a file that is kept and shown", "give it by the environment")
    if flags.get("trust-remote-code") is True:
        yield _warning(
            "trust-remote-code",
            "lets code of the checkpoint run on the replica",
            "leave it out; the families that are planned for need none",
        )
    if flags.get("enable-sleep-mode") is True:
        yield _warning(
            "enable-sleep-mode", "makes a replica that sleeps say 200 at /health", "leave it out: replicas are stopped"
        )


def _error(flag: str, what: str, advice: str) -> Finding:
    return Finding(Weight.ERROR, flag, what, advice)


def _warning(flag: str, what: str, advice: str) -> Finding:
    return Finding(Weight.WARNING, flag, what, advice)
