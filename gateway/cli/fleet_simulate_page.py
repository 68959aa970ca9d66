"""A simulated calendar as a page of its own: the chart is drawn in it, and nothing is fetched."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from html import escape

from gateway.cli.fleet_simulate_view import Told, changes
from gateway.domain.fleet_simulation import BellSeen, Sample

WIDTH, HEIGHT, MARGIN = 1200, 320, 40
_DAY_S = 86_400

_STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --soft: #6b7280; --held: #9ec5fe; --ready: #1d4ed8;
  --used: #15803d; --missed: #b91c1c; --line: #d1d5db; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171b; --ink: #e5e7eb; --soft: #9ca3af; --held: #1e3a5f;
  --ready: #60a5fa; --used: #4ade80; --missed: #f87171; --line: #374151; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem;
  background: var(--paper); color: var(--ink); }
svg { width: 100%; height: auto; } svg text { fill: var(--soft); font-size: 11px; }
.held { fill: var(--held); } .ready { fill: none; stroke: var(--ready); stroke-width: 1.5; }
.used { fill: none; stroke: var(--used); stroke-width: 1.5; } .grid { stroke: var(--line); stroke-width: 1; }
.bell { fill: var(--soft); } .bell.missed { fill: var(--missed); }
table { border-collapse: collapse; } td, th { text-align: left; padding: .2rem 1rem .2rem 0; }
tr.missed { color: var(--missed); font-weight: 600; } .key span { margin-right: 1.5rem; }
.key i { display: inline-block; width: 1rem; height: .6rem; margin-right: .4rem; }
"""


def page(told: Told, notes: Iterable[str]) -> str:
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>Replicas over time: {escape(told.source)}</title><style>{_STYLE}</style></head><body>",
            f"<h1>Replicas over time</h1><p>{escape(told.source)}, simulated. Times are UTC.</p>",
            *(f"<p>{escape(note)}</p>" for note in notes),
            '<p class="key"><span><i style="background:var(--held)"></i>there</span>'
            '<span><i style="background:var(--ready)"></i>ready</span>'
            '<span><i style="background:var(--used)"></i>in use</span><span>▲ bells</span></p>',
            *_drawing(told.week.samples, told.week.bells),
            "<h2>In figures</h2><table>",
            *(f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in told.figures()),
            "</table><h2>Bells</h2><table><tr><th>Bell</th><th>Class</th><th>Ready</th></tr>",
            *map(_bell_row, told.week.bells),
            "</table></body></html>",
            "",
        ]
    )


def _drawing(samples: Sequence[Sample], bells: Sequence[BellSeen]) -> Iterator[str]:
    begins, ends = samples[0].at, samples[-1].at
    top = max(1, *(max(sample.held, sample.used) for sample in samples))

    def across(at: float) -> float:
        return round(MARGIN + (at - begins) / (ends - begins) * (WIDTH - MARGIN), 1)

    def up(count: int) -> float:
        return round(HEIGHT - count / top * (HEIGHT - 10), 1)

    yield f'<svg viewBox="0 0 {WIDTH} {HEIGHT + 40}" role="img" aria-label="Replicas over time">'
    for count in range(0, top + 1, max(1, top // 5)):
        yield f'<line class="grid" x1="{MARGIN}" x2="{WIDTH}" y1="{up(count)}" y2="{up(count)}"/>'
        yield f'<text x="{MARGIN - 8}" y="{up(count) + 4}" text-anchor="end">{count}</text>'
    for day in range(int(begins // _DAY_S) + 1, int(ends // _DAY_S) + 1):
        at = across(day * _DAY_S)
        yield f'<line class="grid" x1="{at}" x2="{at}" y1="0" y2="{HEIGHT}"/>'
        yield f'<text x="{at + 4}" y="{HEIGHT + 30}">{datetime.fromtimestamp(day * _DAY_S, UTC):%a %d %b}</text>'
    held = _steps(samples, lambda sample: sample.held, across, up)
    yield f'<path class="held" d="M{across(begins)} {up(0)} L{held} L{across(ends)} {up(0)} Z"/>'
    yield f'<path class="ready" d="M{_steps(samples, lambda sample: sample.ready, across, up)}"/>'
    yield f'<path class="used" d="M{_steps(samples, lambda sample: sample.used, across, up)}"/>'
    for bell in bells:
        at, missed = across(bell.at), "" if bell.is_met else " missed"
        title = escape(f"{bell.name}: {bell.ready} of {bell.needed} ready")
        yield f'<path class="bell{missed}" d="M{at - 4} {HEIGHT + 14} L{at + 4} {HEIGHT + 14} L{at} {HEIGHT + 5} Z">'
        yield f"<title>{title}</title></path>"
    yield "</svg>"


def _steps(
    samples: Sequence[Sample],
    figure: Callable[[Sample], int],
    across: Callable[[float], float],
    up: Callable[[int], float],
) -> str:
    """From one change to the next, as stairs are."""
    points: list[str] = []
    before: int | None = None
    for sample in changes(samples):
        count = figure(sample)
        if count != before:
            points += [] if before is None else [f"{across(sample.at)} {up(before)}"]
            points.append(f"{across(sample.at)} {up(count)}")
            before = count
    return " L".join([*points, f"{across(samples[-1].at)} {up(before or 0)}"])


def _bell_row(bell: BellSeen) -> str:
    mark = "" if bell.is_met else ' class="missed"'
    at = f"{datetime.fromtimestamp(bell.at, UTC):%a %Y-%m-%d %H:%M}"
    return f"<tr{mark}><td>{at}</td><td>{escape(bell.name)}</td><td>{bell.ready} of {bell.needed}</td></tr>"
