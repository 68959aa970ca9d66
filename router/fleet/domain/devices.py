"""What a replica runs on: memory, bandwidth and compute, as their makers' data sheets give them.

Memory is what drivers usually show, which is less than the name says ("48 GB" is 45 GiB with error correction on);
another card's may differ by a per cent, so read yours and pass it. Bandwidth in bytes a second. Compute in
floating-point operations a second for dense bfloat16, without sparsity. The `cpu` row is one server core with AVX-512,
an order of magnitude and no data sheet.
"""

from dataclasses import dataclass
from typing import Final

from router.fleet.domain.weights import Quantisation

MIB: Final = 2**20
GIB: Final = 2**30
GIGA: Final = 10**9
TERA: Final = 10**12
CPU: Final = "cpu"

_EIGHT_BITS: Final = frozenset({Quantisation.FP8, Quantisation.INT8})
_INT8_ONLY: Final = frozenset({Quantisation.INT8})
EIGHT_BIT_GAIN: Final = 2.0
"""How many times as many 8-bit as bfloat16 operations fit into a second, on devices that have them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    name: str
    memory_bytes: int
    bandwidth: float
    bf16_flops: float
    faster_in: frozenset[Quantisation]
    """Quantisations whose products the device forms in 8 bits; the others only save memory."""

    @property
    def is_cpu(self) -> bool:
        return self.name == CPU

    def flops(self, quantisation: Quantisation) -> float:
        return self.bf16_flops * (EIGHT_BIT_GAIN if quantisation in self.faster_in else 1.0)


def _gpu(name: str, *, mib: int, gb_s: int, tflops: float, faster_in: frozenset[Quantisation]) -> Device:
    return Device(
        name=name,
        memory_bytes=mib * MIB,
        bandwidth=gb_s * GIGA,
        bf16_flops=tflops * TERA,
        faster_in=faster_in,
    )


DEVICES: Final = (
    _gpu("a10", mib=23_028, gb_s=600, tflops=125, faster_in=_INT8_ONLY),
    _gpu("a100-40g", mib=40_960, gb_s=1_555, tflops=312, faster_in=_INT8_ONLY),
    _gpu("a100-80g", mib=81_920, gb_s=2_039, tflops=312, faster_in=_INT8_ONLY),
    _gpu("a6000", mib=49_140, gb_s=768, tflops=154.8, faster_in=_INT8_ONLY),
    _gpu("h100", mib=81_559, gb_s=3_350, tflops=989, faster_in=_EIGHT_BITS),
    _gpu("h20", mib=97_871, gb_s=4_000, tflops=148, faster_in=_EIGHT_BITS),
    _gpu("h200", mib=143_771, gb_s=4_800, tflops=989, faster_in=_EIGHT_BITS),
    _gpu("l20", mib=46_068, gb_s=864, tflops=119.5, faster_in=_EIGHT_BITS),
    _gpu("l4", mib=23_034, gb_s=300, tflops=121, faster_in=_EIGHT_BITS),
    _gpu("l40s", mib=46_068, gb_s=864, tflops=362, faster_in=_EIGHT_BITS),
    _gpu("rtx4090", mib=24_564, gb_s=1_008, tflops=165, faster_in=_EIGHT_BITS),
    Device(name=CPU, memory_bytes=8 * GIB, bandwidth=12 * GIGA, bf16_flops=0.45 * TERA, faster_in=frozenset()),
)


def device(name: str) -> Device | None:
    return next((known for known in DEVICES if known.name == name), None)
