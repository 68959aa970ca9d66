"""A page of its own: one HTML file with its styles in it, that fetches nothing and needs no script."""

from collections.abc import Iterable, Sequence

from loadtests.report.markup import Markup, joined, tag, words
from loadtests.report.style import CHART, COLOURS
from loadtests.report.table import table

_STYLE = (
    COLOURS
    + CHART
    + """
body { font: 15px/1.55 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; padding: 0 1rem;
  background: var(--paper); color: var(--ink); }
h1 { font-size: 1.6rem; margin-bottom: .3rem; } h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; }
svg { width: 100%; height: auto; } figure { margin: 1.2rem 0; break-inside: avoid; }
figcaption, .aside { color: var(--soft); }
table { border-collapse: collapse; display: block; overflow-x: auto; margin: .8rem 0;
  font-variant-numeric: tabular-nums; }
td, th { text-align: left; font-weight: 400; padding: .25rem 1.2rem .25rem 0; vertical-align: top;
  border-bottom: 1px solid var(--line); }
thead th { color: var(--soft); } caption { text-align: left; color: var(--soft); }
.verdict { border-left: .4rem solid var(--own); background: var(--panel); padding: .6rem 1rem; margin: 1rem 0; }
.verdict strong { color: var(--own); font-size: 1.25rem; } .verdict p { margin: .3rem 0; }
.good { --own: var(--good); } .bad { --own: var(--bad); } .doubt { --own: var(--doubt); }
tr.good td:last-child, tr.bad td, tr.bad th, tr.doubt td:last-child { color: var(--own); }
tr.bad th { font-weight: 600; }
summary { color: var(--soft); cursor: pointer; } dt { font-weight: 600; } dd { margin: 0 0 .5rem; color: var(--soft); }
footer { margin-top: 3rem; border-top: 1px solid var(--line); font-size: .9rem; }
@media print { body { margin: 0; max-width: none; } details:not([open]) { display: none; } h2 { break-after: avoid; } }
"""
)


def page(title: str, parts: Iterable[Markup]) -> Markup:
    """The whole document. `title` is its heading too."""
    head = joined(
        [
            Markup('<meta charset="utf-8">'),
            Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
            tag("title", words(title)),
            Markup(f"<style>{_STYLE}</style>"),
        ]
    )
    body = joined([tag("h1", words(title)), *parts], "\n")
    return Markup(f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n')


def verdict(tone: str, headline: str, lines: Iterable[str] = ()) -> Markup:
    """`tone` is `good`, `bad` or `doubt`; the headline says it in words as well."""
    told = joined([tag("strong", words(headline)), *(tag("p", words(each)) for each in lines)])
    return tag("div", told, class_=f"verdict {tone}", role="status")


def section(heading: str, *parts: Markup) -> Markup:
    return tag("section", joined([tag("h2", words(heading)), *parts], "\n"))


def paragraph(text: str, *, aside: bool = False) -> Markup:
    return tag("p", words(text), class_="aside" if aside else None)


def figure(chart: Markup, beside: Markup, note: str = "") -> Markup:
    """A chart, what is to be known of it, and its values as a table."""
    folded = tag("details", joined([tag("summary", words("As a table")), beside]))
    said = tag("figcaption", words(note)) if note else Markup("")
    return tag("figure", joined([chart, said, folded], "\n"))


def facts(pairs: Iterable[tuple[str, str]]) -> Markup:
    return table((), list(pairs))


def footer(definitions: Sequence[tuple[str, str]], *closing: str) -> Markup:
    """What each word means, and whatever is to be said last."""
    told = joined((joined([tag("dt", words(word)), tag("dd", words(meaning))]) for word, meaning in definitions), "\n")
    return tag("footer", joined([tag("h2", words("What the words mean")), tag("dl", told), *map(paragraph, closing)]))
