"""The certificate as one page that needs no network."""

from loadtests.certify.words import COLD, basis, figures, lived
from loadtests.domain.certificate import Answer, Certificate
from loadtests.report.columns import Bars, bar_chart
from loadtests.report.markup import Markup
from loadtests.report.page import facts, figure, footer, page, paragraph, section, verdict
from loadtests.report.scale import Axis
from loadtests.report.table import bars_table, table
from loadtests.report.words import seconds

_TONES = {Answer.CERTIFIED: "good", Answer.NOT_CERTIFIED: "bad", Answer.VOID: "doubt"}
_HEADLINES = {Answer.CERTIFIED: "Certified", Answer.NOT_CERTIFIED: "Not certified", Answer.VOID: "Nothing shown"}
_DEFINITIONS = (
    ("first token", "from the first byte of a message sent to the first text of its reply; p95 over all turns begun."),
    ("a seat", "a trainee who may start at the bell and take every turn with the others doing the same."),
    ("cold turn", "a second or later turn of which less than half of what could be cached was."),
    ("drill lost", "a session whose trainee could not take every turn of the timetable."),
    ("GPU-hours", "of all replicas that were there, from the first look at them to the last."),
)


def certificate_page(certificate: Certificate) -> Markup:
    said = (*certificate.why, *(f"With reservation: {each}" for each in certificate.reservations))
    return page(
        certificate.title,
        [
            verdict(_TONES[certificate.answer], _HEADLINES[certificate.answer], said),
            section("What was shown", facts(figures(certificate)), *_cold(certificate)),
            *_seats(certificate),
            section("What it lived through", *_faults(certificate)),
            section("What it is valid for", facts(certificate.valid_for.items())),
            section("What it rests on", *map(paragraph, basis(certificate))),
            footer(
                _DEFINITIONS,
                f"Digest of all that was measured: {certificate.run_digest}",
                f"Digest of this certificate: {certificate.digest}",
            ),
        ],
    )


def _cold(certificate: Certificate) -> list[Markup]:
    if not any(certificate.cold.values()):
        return []
    x, y = Axis(label="cause"), Axis(label="cold turns")
    names = list(certificate.cold)
    bars = [Bars("cold turns", [float(certificate.cold[each]) for each in names])]
    said = "; ".join(f"{each}: {COLD[each]}" for each in names if each in COLD)
    return [figure(bar_chart("Cold turns by cause", names, bars, x=x, y=y), bars_table(names, bars, x=x, y=y), said)]


def _seats(certificate: Certificate) -> list[Markup]:
    if not certificate.trials:
        return []
    ranked = sorted(certificate.trials, key=lambda trial: trial.seats)
    rows = [(each.seats, seconds(each.ttft_p95_s), "held" if each.held else "did not hold") for each in ranked]
    tones = ["" if each.held else "bad" for each in ranked]
    return [
        section("How many seats there are", table(("seats", "first token, p95", ""), rows, tones=tones)),
    ]


def _faults(certificate: Certificate) -> list[Markup]:
    rows = [lived(each) for each in certificate.lived_through]
    told = [table(("at", "what", "whose", "answered again"), rows)] if rows else [paragraph("Nothing was broken.")]
    return told + [paragraph(f"Not tried: {each}.") for each in certificate.uncaused]
