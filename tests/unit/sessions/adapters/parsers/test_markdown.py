"""Markdown without its marks."""

import time

import pytest

from sessions.adapters.parsers.markdown import blocks
from sessions.errors import DocumentUnreadable

PAGE = """---
title: Handbook
---
Before any heading.

# Prices *2026*

A pump costs **48** yuan, see [the list](https://example.org/x)
and `AX-4471`.
价格
不含税\\
每台

## 折扣

- ten pumps
  or more
- second

  paragraph of it
3. third

| Model | Price |
|---|---|
| AX-4471 | 48 yuan |

```
code stays
  as it is
```

<div><script>no()</script>inline <b>page</b></div>

![a pump](pump.png) and <span>tags</span>

Terms
=====

Thirty days.
"""


def test_a_text_is_read_without_its_marks() -> None:
    assert [(" > ".join(block.headings), block.text.rstrip("\n")) for block in blocks(PAGE.encode(), 1)] == [
        ("", "title: Handbook"),
        ("", "Before any heading."),
        ("Prices 2026", "A pump costs 48 yuan, see the list and AX-4471. 价格不含税\n每台"),
        ("Prices 2026 > 折扣", "- ten pumps or more"),
        ("Prices 2026 > 折扣", "- second"),
        ("Prices 2026 > 折扣", "paragraph of it"),
        ("Prices 2026 > 折扣", "3. third"),
        ("Prices 2026 > 折扣", "Model | Price"),
        ("Prices 2026 > 折扣", "AX-4471 | 48 yuan"),
        ("Prices 2026 > 折扣", "code stays\n  as it is"),
        ("Prices 2026 > 折扣", "inline page"),
        ("Prices 2026 > 折扣", "a pump and tags"),
        ("Terms", "Thirty days."),
    ]


def test_a_line_at_the_top_is_no_front_matter_by_itself() -> None:
    assert [block.text for block in blocks(b"---\nfirst\n\nsecond", 1)] == ["first", "second"]


def test_nothing_is_no_block() -> None:
    assert list(blocks(b"", 1)) == []


def test_a_text_may_be_nested_deeply_but_nothing_of_it_is_left_out_silently() -> None:
    listed = "\n".join("  " * depth + f"- level {depth}" for depth in range(40))
    assert [block.text for block in blocks(listed.encode(), 1)] == [f"- level {depth}" for depth in range(40)]
    with pytest.raises(DocumentUnreadable) as caught:
        list(blocks(b">" * 300 + b" bottom", 1))
    assert caught.value.reason == "too_large"


def test_a_paragraph_of_many_lines_is_read_line_by_line() -> None:
    begun = time.perf_counter()
    (block,) = blocks(b"a line of a paragraph\n" * 16_000, 1)
    assert block.text == " ".join(["a line of a paragraph"] * 16_000)
    assert time.perf_counter() - begun < 4  # looking through all of it at each line: over ten seconds
