"""How charts and pages look: by day, by night and on paper, and to eyes that see few colours."""

from loadtests.report.markup import Markup

_DAY = """--paper: #fff; --ink: #1b1f24; --soft: #57606a; --line: #d8dee4; --shade: #d55e0022; --mark: #a04000;
  --good: #00704f; --bad: #b42318; --doubt: #8a5a00; --panel: #f6f8fa;
  --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #b0508a; --c4: #b07d00;
  --c5: #3a96d6; --c6: #5d5d5d; --c7: #7a3fb0;"""
_NIGHT = """--paper: #14171b; --ink: #e6e9ed; --soft: #a3adb8; --line: #363d46; --shade: #ff9a5c2e; --mark: #ffb07a;
  --good: #4ade9f; --bad: #ff8a80; --doubt: #f2c14e; --panel: #1c2128;
  --c0: #5ab4ef; --c1: #ff9351; --c2: #3fd6a6; --c3: #ee9ccb; --c4: #f0c948;
  --c5: #9fd8ff; --c6: #b4bcc4; --c7: #c49bf5;"""

COLOURS = f"""
:root {{ color-scheme: light dark; {_DAY} }}
@media (prefers-color-scheme: dark) {{ :root {{ {_NIGHT} }} }}
@media print {{ :root {{ color-scheme: light; {_DAY} }} }}
"""

_SLOTS = "\n".join(
    f".s{slot} {{ --own: var(--c{slot}); }} .line.s{slot} {{ stroke-dasharray: {dashes}; }}"
    for slot, dashes in enumerate(("none", "7 3", "2 2", "9 3 2 3", "4 2", "12 3", "1 3", "6 2 1 2 1 2"))
)

CHART = f"""
.chart text {{ fill: var(--soft); font: 12px system-ui, sans-serif; }}
.chart .name {{ fill: var(--ink); font-size: 15px; font-weight: 600; }} .chart .label {{ fill: var(--mark); }}
.chart .grid {{ stroke: var(--line); }} .chart .ground {{ stroke: var(--soft); }}
.chart .span {{ fill: var(--shade); }} .chart .mark {{ stroke: var(--mark); stroke-dasharray: 3 3; }}
.chart .line {{ fill: none; stroke: var(--own); stroke-width: 2; stroke-linejoin: round; }}
.chart .dot, .chart .beyond, .chart .box {{ fill: var(--own); }} .chart .box {{ stroke: var(--paper); }}
.chart .box.beyond {{ stroke: var(--bad); stroke-width: 2; }}
.chart .whisker {{ stroke: var(--own); stroke-width: 2; fill: none; }}
.chart .hover {{ fill: transparent; }} .chart .hover:hover {{ fill: var(--ink); fill-opacity: .07; }}
.chart .tone-none {{ --own: var(--soft); }} .chart .tone-better {{ --own: var(--c0); }}
.chart .tone-worse {{ --own: var(--c1); }}
{_SLOTS}
"""


def standalone(chart: Markup) -> Markup:
    """The chart as a file of its own: with the styles that a page would have, on its own paper."""
    head, rest = chart.split(">", 1)
    named = head.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    style = f"<style>{COLOURS}{CHART} svg {{ background: var(--paper); }}</style>"
    return Markup(f"{named}>{style}{rest}\n")
