"""What of a page is text, and under which headings."""

import pytest

from sessions.adapters.parsers.html import blocks, blocks_of
from sessions.errors import DocumentUnreadable

PAGE = """<!doctype html><html><head><title>Shop</title><meta charset="gbk"><style>p {}</style></head><body>
<nav><a href="/">Home</a></nav><script>alert("x")</script>
<h1>Prices <em>2026</em></h1>
<p>A pump costs <b>48</b> yuan.<br>Ask
   for more.</p><!-- a comment -->
<div>Loose text<p>and a paragraph</p>and more</div>
<h2>折扣</h2><ul><li>满十台<span>九折</span></li><li><p>Nested</p></li><li></li></ul>
<table><tr><th>Model</th><th>Price</th></tr><tr><td>AX-4471</td><td><p>48</p><p>yuan</p></td></tr><tr></tr></table>
<pre>one
  two</pre>
<p hidden>secret</p><p style="display: none">secret</p><p aria-hidden="true">secret</p><noscript>secret</noscript>
<h1>Terms</h1>thirty days</body></html>"""


def test_a_page_is_read_as_a_reader_sees_it() -> None:
    assert [(" > ".join(block.headings), block.text) for block in blocks(PAGE.encode(), 1)] == [
        ("Prices 2026", "A pump costs 48 yuan.\nAsk for more."),
        ("Prices 2026", "Loose text"),
        ("Prices 2026", "and a paragraph"),
        ("Prices 2026", "and more"),
        ("Prices 2026 > 折扣", "- 满十台九折"),
        ("Prices 2026 > 折扣", "Nested"),
        ("Prices 2026 > 折扣", "Model | Price"),
        ("Prices 2026 > 折扣", "AX-4471 | 48 yuan"),
        ("Prices 2026 > 折扣", "one\n  two"),
        ("Terms", "thirty days"),
    ]


def test_blanks_between_inline_elements_stay() -> None:
    (block,) = blocks_of("<p>one <b>two</b> <i>three</i>\nfour<b> five</b></p>")
    assert block.text == "one two three four five"


@pytest.mark.parametrize("text", ["", " ", "<!-- only a comment -->", "<script>1</script>", "<p></p>"])
def test_a_page_without_text_has_no_blocks(text: str) -> None:
    assert list(blocks_of(text)) == []


def test_what_is_no_page_is_text() -> None:
    assert [block.text for block in blocks_of("just words < and > signs &amp; é")] == ["just words < and > signs & é"]


def test_entities_of_the_page_itself_are_not_expanded() -> None:
    page = '<!DOCTYPE html [<!ENTITY a SYSTEM "file:///etc/passwd">]><p>before &a; after</p>'
    (block,) = (block for block in blocks_of(page) if "before" in block.text)
    assert "root:" not in block.text


def test_a_page_in_another_encoding_is_refused() -> None:
    with pytest.raises(DocumentUnreadable):
        list(blocks("<meta charset=gbk><p>价格</p>".encode("gbk"), 1))


def test_a_page_may_be_nested_deeply_but_nothing_of_it_is_left_out_silently() -> None:
    (block,) = blocks_of("<div>" * 280 + "bottom" + "</div>" * 280)
    assert block.text == "bottom"
    with pytest.raises(DocumentUnreadable) as caught:
        list(blocks_of("<div>" * 100_000 + "bottom"))
    assert caught.value.reason == "too_large"
