"""A page is whole in itself, whatever it is called."""

import re
from html.parser import HTMLParser

from typing_extensions import override

from loadtests.report.chart import Axis, Series, line_chart
from loadtests.report.page import facts, figure, footer, page, paragraph, section, verdict
from loadtests.report.table import lines_table

X, Y = Axis(label="x"), Axis(label="y")
LINES = [Series("<p50>", [(0, 1), (1, 2)])]


class Balance(HTMLParser):
    """Every tag that is opened is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag != "meta":
            self.open.append(tag)

    @override
    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def whole() -> str:
    return page(
        "Class of 20 <b>",
        [
            verdict("bad", "Missed <i>", ["First text p95 2.4 s, <u> at most 1.5 s."]),
            paragraph("said aside", aside=True),
            section("Over time", figure(line_chart("t", LINES, x=X, y=Y), lines_table(LINES, x=X, y=Y), "a <note>")),
            facts([("revision", "<abc>")]),
            footer([("TTFT", "to the <first> text")], "Written by hand."),
        ],
    )


def test_it_fetches_nothing_and_needs_no_script() -> None:
    shown = whole()
    assert not re.search(r"https?:|src=|url\(|@import|<script|<link", shown)


def test_every_tag_is_closed() -> None:
    balance = Balance()
    balance.feed(whole())
    assert not balance.open
    assert {"svg", "details", "table", "dl", "footer"} <= set(balance.seen)


def test_names_are_words_and_not_markup() -> None:
    shown = whole()
    assert not {"<b>", "<i>", "<u>", "<note>", "<abc>", "<first>", "<p50>"} & set(re.findall("<[^>]+>", shown))
    assert shown.count("Class of 20 &lt;b&gt;") == 2


def test_the_verdict_is_told_in_words_and_to_whoever_listens() -> None:
    assert '<div class="verdict bad" role="status"><strong>Missed &lt;i&gt;</strong>' in whole()


def test_looks_are_there_by_night_and_on_paper() -> None:
    assert "prefers-color-scheme: dark" in whole()
    assert "@media print" in whole()
