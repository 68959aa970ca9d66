"""A certificate in words: for a terminal, and for the page."""

from collections.abc import Iterator

from loadtests.domain.certificate import Certificate, Lived
from loadtests.report.words import clock, counted, number, seconds, share

COLD = {
    "moved": "at another replica than the turn before",
    "folded": "its history was folded, and the new prefix not prewarmed",
    "evicted": "the cache had let go of it",
    "lost": "its replica was broken in between",
}
MEASURED = (
    "Measured: the product itself (gateway, router, sessions, Redis, Postgres), the prompts it made, which replica "
    "took each turn, what of each prompt was cached, what failed, what the record holds, and all times as a client "
    "of its own saw them."
)
MODELLED = (
    "Modelled: the replicas. How long a prompt and a token take and how much memory there is follow the profile; no "
    "GPU ran. The certificate is worth as much as that profile."
)
REAL = "Nothing is modelled: the replicas computed every token."


def basis(certificate: Certificate) -> tuple[str, str]:
    return MEASURED, MODELLED if certificate.is_simulated else REAL


def figures(certificate: Certificate) -> Iterator[tuple[str, str]]:
    yield "seats", f"{certificate.seats} of {certificate.asked_seats} asked for"
    yield "first token, p95", f"{seconds(certificate.ttft_p95_s)}, agreed {seconds(certificate.ttft_s)}"
    yield "first token at the bell, p95", seconds(certificate.bell_ttft_p95_s)
    yield "turns", f"{certificate.turns:,}, {certificate.failed:,} failed"
    yield "cold turns", _cold(certificate)
    yield "drills", f"{certificate.drills_completed} completed, {certificate.drills_lost} lost"
    yield "GPU-hours", f"{number(certificate.gpu_hours)}, {number(certificate.gpu_hours_per_drill)} per completed drill"
    if certificate.cost_per_drill is not None:
        yield "cost per completed drill", number(certificate.cost_per_drill)


def lived(fault: Lived) -> tuple[str, str, str, str]:
    mended = "not before the end" if fault.mended_after_s is None else f"after {seconds(fault.mended_after_s)}"
    return clock(fault.at_s), fault.kind, fault.target, mended


def lines(certificate: Certificate) -> Iterator[str]:
    yield certificate.title
    yield ""
    for name, told in figures(certificate):
        yield f"  {name:<28}  {told}"
    yield ""
    for fault in certificate.lived_through:
        at, kind, target, mended = lived(fault)
        yield f"  lived through {kind} of {target} at {at}, answered again {mended}"
    for each in certificate.uncaused:
        yield f"  not tried: {each}"
    for each in certificate.why:
        yield f"  why not: {each}"
    for each in certificate.reservations:
        yield f"  with reservation: {each}"
    yield ""
    for name, told in certificate.valid_for.items():
        yield f"  {name:<28}  {told}"
    yield f"  {'digest':<28}  {certificate.digest}"
    yield ""
    yield from basis(certificate)


def _cold(certificate: Certificate) -> str:
    causes = ", ".join(f"{count} {COLD.get(reason, reason)}" for reason, count in certificate.cold.items() if count)
    moved = f"; {counted(certificate.moved_by_faults, 'turn')} moved by faults" if certificate.moved_by_faults else ""
    return share(certificate.cold_share) + (f" ({causes})" if causes else "") + moved
