from dataclasses import replace

from loadtests.certify.words import MODELLED, REAL, basis, lines
from tests.support.certified import CERTIFICATE, NOT_GIVEN


def test_a_certificate_says_seats_cold_turns_losses_and_price() -> None:
    text = "\n".join(lines(CERTIFICATE))
    for words in (
        "Certified on simulated replicas: 300 seats with a first token within 1.5 s",
        "300 of 300 asked for",
        "612 ms, agreed 1.5 s",
        "1.2 % (90 at another replica than the turn before, 30 evicted-for-fun); 90 turns moved by faults",
        "298 completed, 2 lost",
        "4.5, 0.0151 per completed drill",
        "lived through kill of replica-1 at 2:00, answered again after 81 s",
        "lived through redis-flush of redis at 4:00, answered again not before the end",
        "not tried: a replica frozen: why",
        "with reservation: failure_share: too few",
        "sim:9",
        CERTIFICATE.digest,
        MODELLED,
    ):
        assert words in text, text
    assert "cost per completed drill" in text


def test_without_a_price_there_is_no_cost() -> None:
    assert "cost per" not in "\n".join(lines(replace(CERTIFICATE, cost_per_drill=None)))


def test_one_that_was_not_given_says_why() -> None:
    text = "\n".join(lines(NOT_GIVEN))
    assert "why not: ttft_p95_s: 9, at most 1.5" in text
    assert "lived through" not in text


def test_nothing_is_modelled_on_real_replicas() -> None:
    assert basis(replace(CERTIFICATE, is_simulated=False))[1] == REAL
