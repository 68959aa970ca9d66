from router.fleet.domain.devices import CPU, DEVICES, GIB, device
from router.fleet.domain.weights import Quantisation


def test_each_device_is_found_by_its_name() -> None:
    assert [device(known.name) for known in DEVICES] == list(DEVICES)
    assert device("abacus") is None
    assert [known.name for known in DEVICES if known.is_cpu] == [CPU]


def test_a_card_has_less_memory_than_its_name_says() -> None:
    card = device("l40s")
    assert card is not None
    assert 44 * GIB < card.memory_bytes < 45 * GIB


def test_only_what_a_device_multiplies_in_eight_bits_is_faster() -> None:
    ada, ampere = device("l40s"), device("a100-80g")
    assert ada is not None
    assert ampere is not None
    assert ada.flops(Quantisation.FP8) == 2 * ada.flops(Quantisation.BF16)
    assert ampere.flops(Quantisation.FP8) == ampere.flops(Quantisation.BF16)
    assert ampere.flops(Quantisation.INT8) == 2 * ampere.flops(Quantisation.INT4)
