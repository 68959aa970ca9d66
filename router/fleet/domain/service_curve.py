"""How long a replica takes: a roofline of bandwidth and compute, with estimates of what kernels reach of both.

A step of decoding reads all weights once and the KV of every running session, and multiplies each matrix with one token
a session (and with the guessed ones):

    step(n)    = overhead + max((weights + n x context x KV per token) / bandwidth,
                                2 x parameters x n x (1 + k) / compute)
    prefill(u) = max(weights / bandwidth,
                     (2 x parameters x u + 4 x layers x heads x head size x u x (c + u/2)) / compute)

for u new tokens after c cached ones, with 2 operations a parameter and token and 4 a head, position and pair of tokens.
Draft models add k steps of their own. Sources: Williams, Waterman and Patterson, "Roofline", CACM 52(4), 2009; Pope et
al., "Efficiently Scaling Transformer Inference", MLSys 2023, section 2; Kaplan et al., arXiv 2001.08361, table 1.

The *floor* is weights / bandwidth with nothing else counted: no single stream without speculation can be faster.
"""

from dataclasses import dataclass
from typing import Final

from router.fleet.domain.kv_cache import kv_bytes_per_token
from router.fleet.domain.memory_budget import ReplicaSetup
from router.fleet.domain.weights import Quantisation, weights

BANDWIDTH_SHARE: Final = 0.75
COMPUTE_SHARE: Final = 0.5
STEP_OVERHEAD_S: Final = 0.002
DRAFT_OVERHEAD_S: Final = 0.001
REQUEST_OVERHEAD_S: Final = 0.02
"""Estimates: what kernels reach of the data sheet, what scheduling and sampling add to a step, and what HTTP, template
and tokenizer add once to a request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceCurve:
    """Seconds of one replica, from figures that `service_curve` works out once."""

    setup: ReplicaSetup
    read_bytes: int
    session_bytes: int
    """KV that a step reads of a running session."""
    token_flops: int
    bandwidth: float
    compute: float
    draft_read_bytes: int
    draft_session_bytes: int

    @property
    def floor_s(self) -> float:
        return self.read_bytes / self.setup.device.bandwidth

    def step_s(self, running: int) -> float:
        reading = (self.read_bytes + running * self.session_bytes) / self.bandwidth
        multiplying = running * (1 + self.setup.ahead_tokens) * self.token_flops / self.compute
        return STEP_OVERHEAD_S + max(reading, multiplying) + self._drafting_s(running)

    def token_s(self, running: int) -> float:
        """Between two tokens of one reply, while `running` replies are written."""
        speculation = self.setup.speculation
        return self.step_s(running) / (1.0 if speculation is None else speculation.tokens_per_step)

    def prefill_s(self, new_tokens: int, *, cached_tokens: int) -> float:
        model = self.setup.model
        pairs = new_tokens * (cached_tokens + new_tokens / 2)
        attention = 4 * model.layers * model.heads * model.head_size * pairs
        multiplying = (self.token_flops * new_tokens + attention) / self.compute
        return max(self.read_bytes / self.bandwidth, multiplying)

    def _drafting_s(self, running: int) -> float:
        if self.setup.draft is None:
            return 0.0
        reading = (self.draft_read_bytes + running * self.draft_session_bytes) / self.bandwidth
        return self.setup.ahead_tokens * (DRAFT_OVERHEAD_S + reading)


def service_curve(setup: ReplicaSetup, *, context_tokens: int) -> ServiceCurve:
    model, draft = setup.model, setup.draft
    return ServiceCurve(
        setup=setup,
        read_bytes=weights(model, setup.quantisation).read_bytes,
        session_bytes=context_tokens * kv_bytes_per_token(model, setup.kv_dtype),
        # The head multiplies too, and where it is the embeddings, they do.
        token_flops=2 * (model.matrix_parameters + model.embedding_parameters),
        bandwidth=setup.device.bandwidth * BANDWIDTH_SHARE,
        compute=setup.device.flops(setup.quantisation) * COMPUTE_SHARE,
        draft_read_bytes=0 if draft is None else weights(draft, Quantisation.BF16).read_bytes,
        draft_session_bytes=0 if draft is None else context_tokens * kv_bytes_per_token(draft, setup.kv_dtype),
    )
