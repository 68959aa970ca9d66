"""The process that reads one document: bytes in, blocks out as JSON, and nothing else within its reach.

`python -m sessions.adapters.parsers.child MEDIA_TYPE MAX_CHARACTERS MAX_PAGES CPU_S` reads standard input and writes
`{"blocks": [[headings, text], ...]}` or `{"reason": ..., "detail": ...}`. Whatever a library trips over ends the
process with another exit status than 0, which tells its parent that the document is malformed.
"""

import json
import os
import resource
import sys
from collections.abc import Callable, Iterator
from importlib import import_module

from sessions.domain.chunking import Block
from sessions.domain.knowledge import MediaType
from sessions.errors import DocumentUnreadable

_MEMORY_BYTES = 1024 * 1024 * 1024
_NICENESS = 10
_RECURSION = 10_000
"""Enough for the deepest page that the libraries read, and far less than the stack."""

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
    answer = read(MediaType(media_type), sys.stdin.buffer.read(), max_characters=int(characters), max_pages=int(pages))
    sys.stdout.write(json.dumps(answer))


def confine(cpu_s: int) -> None:
    """What a hostile document may use of this machine: little memory, some time, no file."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(_NICENESS)  # trainees go first
    sys.setrecursionlimit(_RECURSION)


def read(media_type: MediaType, raw: bytes, *, max_characters: int, max_pages: int) -> dict[str, object]:
    parser: Parser = import_module(f"sessions.adapters.parsers.{MODULES[media_type]}").blocks
    try:
        return {"blocks": _bounded(parser(raw, max_pages), max_characters)}
    except DocumentUnreadable as error:
        return {"reason": error.reason, "detail": str(error)}
    except (MemoryError, RecursionError):
        return {"reason": "too_large", "detail": "the document needs more memory than it may have"}


def _bounded(blocks: Iterator[Block], most: int) -> list[tuple[tuple[str, ...], str]]:
    found, characters = [], 0
    for block in blocks:
        characters += len(block.text)
        if characters > most:
            raise DocumentUnreadable("too_long", f"the document has more than {most} characters of text")
        found.append((block.headings, block.text))
    if not any(text.strip() for _, text in found):
        raise DocumentUnreadable("no_text", "the document holds no text; pictures of text are not read")
    return found


if __name__ == "__main__":
    main()
