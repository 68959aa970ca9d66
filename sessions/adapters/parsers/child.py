"""The process that reads one document: bytes in, blocks out as JSON, and nothing else within its reach.

`python -m sessions.adapters.parsers.child MEDIA_TYPE MAX_CHARACTERS MAX_PAGES CPU_S` reads standard input and writes
lines, `{"headings": [...], "texts": [...]}` for blocks in a row under the same headings, or one line
`{"reason": ..., "detail": ...}`. Whatever a library trips over ends the process with another exit status than 0, which
tells its parent that the document is malformed.
"""

import json
import os
import resource
import sys
from collections.abc import Callable, Iterator
from importlib import import_module

from sessions.domain.chunking import MAX_HEADING_CHARACTERS, Block
from sessions.domain.knowledge import MediaType
from sessions.errors import DocumentUnreadable

_MEMORY_BYTES = 1024 * 1024 * 1024
_NICENESS = 10
_RECURSION = 10_000
"""Enough for the deepest page that the libraries read, and far less than the stack."""

_TEXTS_PER_LINE = 1000
"""So that the parent never reads a long line in one go, while everybody's turns wait."""

MODULES = {
    MediaType.TEXT: "plain",
    MediaType.MARKDOWN: "markdown",
    MediaType.HTML: "html",
    MediaType.PDF: "pdf",
    MediaType.DOCX: "word",
}

Parser = Callable[[bytes, int], Iterator[Block]]


def main() -> None:
    media_type, characters, pages, cpu_s = sys.argv[1:]
    confine(int(cpu_s))
    for line in read(
        MediaType(media_type), sys.stdin.buffer.read(), max_characters=int(characters), max_pages=int(pages)
    ):
        sys.stdout.write(json.dumps(line) + "\n")


def confine(cpu_s: int) -> None:
    """What a hostile document may use of this machine: little memory, some time, no file."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(_NICENESS)  # trainees go first
    sys.setrecursionlimit(_RECURSION)


def read(media_type: MediaType, raw: bytes, *, max_characters: int, max_pages: int) -> list[dict[str, object]]:
    """The lines of the answer."""
    parser: Parser = import_module(f"sessions.adapters.parsers.{MODULES[media_type]}").blocks
    try:
        found = _bounded(parser(raw, max_pages), max_characters)
    except DocumentUnreadable as error:
        return [{"reason": error.reason, "detail": str(error)}]
    except (MemoryError, RecursionError):
        return [{"reason": "too_large", "detail": "the document needs more memory than it may have"}]
    return [{"headings": headings, "texts": texts} for headings, texts in found]


def _bounded(blocks: Iterator[Block], most: int) -> list[tuple[tuple[str, ...], list[str]]]:
    """The texts of blocks in a row under the same headings. A heading is told with each such row, so a long one above
    many would become far more than the document is."""
    found: list[tuple[tuple[str, ...], list[str]]] = []
    characters, above = 0, 0
    for block in blocks:
        headings = tuple(" ".join(heading.split())[:MAX_HEADING_CHARACTERS] for heading in block.headings)
        if not found or found[-1][0] != headings or len(found[-1][1]) == _TEXTS_PER_LINE:
            found.append((headings, []))
            above += sum(map(len, headings))
        characters += len(block.text)
        if characters > most:
            raise DocumentUnreadable("too_long", f"the document has more than {most} characters of text")
        if above > most:
            raise DocumentUnreadable("too_long", f"the document has more than {most} characters of headings over text")
        found[-1][1].append(block.text)
    if not any(text.strip() for _, texts in found for text in texts):
        raise DocumentUnreadable("no_text", "the document holds no text; pictures of text are not read")
    return found


if __name__ == "__main__":
    main()
