"""Reads documents in processes of their own, which are ended when they take too long.

A document is written by strangers and read by libraries that were not made for enemies: whatever it does to them
happens elsewhere, without our settings and secrets, and nobody's turn waits for it.
"""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter
from typing_extensions import override

import sessions
from sessions.domain.chunking import Block
from sessions.domain.knowledge import MediaType
from sessions.errors import DocumentUnreadable
from sessions.knowledge_ports import DocumentReader

_CHILD = "sessions.adapters.parsers.child"


# An error that repeats its input would bring the words of a document into the log.
_STRICT = ConfigDict(extra="forbid", hide_input_in_errors=True)


class _Refused(BaseModel):
    model_config = _STRICT

    reason: str
    detail: str


class _Section(BaseModel):
    model_config = _STRICT

    headings: tuple[str, ...]
    texts: list[str]


_LINE: TypeAdapter[_Section | _Refused] = TypeAdapter(_Section | _Refused, config=_STRICT)


class DocumentProcesses(DocumentReader):
    def __init__(self, *, max_characters: int, max_pages: int, limit_s: float, at_once: int) -> None:
        self._words = (str(max_characters), str(max_pages))
        self._limit_s = limit_s
        self._places = asyncio.Semaphore(at_once)

    @override
    async def read(self, media_type: MediaType, raw: bytes) -> Sequence[Block]:
        async with self._places:
            return await asyncio.to_thread(_blocks, await self._told(media_type, raw))

    async def _told(self, media_type: MediaType, raw: bytes) -> bytes:
        process = await self._start(media_type)
        try:
            async with asyncio.timeout(self._limit_s):
                told, _ = await process.communicate(raw)
        except TimeoutError:
            raise DocumentUnreadable("too_slow", f"the document could not be read within {self._limit_s:g} s") from None
        finally:
            await _end(process)
        if process.returncode:
            raise DocumentUnreadable("malformed", f"the document is no {media_type} that can be read")
        return told

    async def _start(self, media_type: MediaType) -> Process:
        # Of the environment it gets only where to find us: the rest holds secrets.
        environment = {
            "PYTHONPATH": str(Path(sessions.__file__).parents[1]),
            "PYTHONSAFEPATH": "1",
            "LC_ALL": "C.UTF-8",
        }
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            _CHILD,
            media_type,
            *self._words,
            str(int(self._limit_s) + 1),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            cwd="/",
            env=environment,
        )


def _blocks(told: bytes) -> list[Block]:
    """Line by line, so that other threads have their turns between two of them; raises `DocumentUnreadable`."""
    found: list[Block] = []
    for line in told.splitlines():
        read = _LINE.validate_json(line)
        if isinstance(read, _Refused):
            raise DocumentUnreadable(read.reason, read.detail)
        found += [Block(read.headings, text) for text in read.texts]
    return found


async def _end(process: Process) -> None:
    """No child outlives its document, however its reading ended."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
