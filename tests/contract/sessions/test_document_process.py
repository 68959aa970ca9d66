"""Reading documents in real processes: what comes back, what is refused, and that nothing is left behind."""

import asyncio
import os
from pathlib import Path

import pytest

from sessions.adapters.document_process import DocumentProcesses
from sessions.domain.chunking import Block
from sessions.domain.knowledge import MediaType
from sessions.errors import DocumentUnreadable
from tests.support.document_files import docx_of, pdf_bomb, pdf_of
from tests.support.eventually import eventually


def reader(*, limit_s: float = 30.0, at_once: int = 2) -> DocumentProcesses:
    return DocumentProcesses(max_characters=1000, max_pages=10, limit_s=limit_s, at_once=at_once)


async def reason(media_type: MediaType, raw: bytes, *, limit_s: float = 30.0) -> str:
    with pytest.raises(DocumentUnreadable) as caught:
        await reader(limit_s=limit_s).read(media_type, raw)
    assert str(caught.value)
    return caught.value.reason


def children() -> list[str]:
    """The reading processes of this one."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_text()
            parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
        except (OSError, IndexError):  # it has ended meanwhile, or is no process
            continue
        if parent == str(os.getpid()) and "parsers.child" in words:
            found.append(entry.name)
    return found


def environments() -> bytes:
    return b"".join(Path("/proc", child, "environ").read_bytes() for child in children())


async def test_documents_come_back_as_blocks_however_many_are_read_at_once() -> None:
    one = reader(at_once=2)
    found = await asyncio.gather(
        one.read(MediaType.TEXT, "A pump costs 48 yuan.\n\n价格不含税。".encode()),
        one.read(MediaType.PDF, pdf_of("A pump costs 48 yuan.")),
        one.read(MediaType.DOCX, docx_of(("Heading 1", "Prices"), ("Normal", "A pump costs 48 yuan."))),
    )
    assert [list(blocks) for blocks in found] == [
        [Block((), "A pump costs 48 yuan."), Block((), "价格不含税。")],
        [Block(("p. 1",), "A pump costs 48 yuan.")],
        [Block(("Prices",), "A pump costs 48 yuan.")],
    ]
    assert children() == []


async def test_what_cannot_be_read_is_refused_with_its_reason() -> None:
    assert await reason(MediaType.TEXT, b"\xff") == "not_utf8"
    assert await reason(MediaType.TEXT, b"x" * 1001) == "too_long"
    assert await reason(MediaType.PDF, pdf_of("a")[:200]) == "malformed"


async def test_a_page_that_is_nested_deeply_is_read() -> None:
    (block,) = await reader().read(MediaType.HTML, b"<div>" * 1500 + b"bottom")
    assert block.text == "bottom"


async def test_what_breaks_a_library_is_malformed() -> None:
    """An archive that is whole, but no Word document: the library trips over it, and its process ends."""
    whole = docx_of(("Normal", "text"))
    assert await reason(MediaType.DOCX, whole.replace(b"[Content_Types].xml", b"[Content_Typos].xml")) == "malformed"


async def test_a_document_that_takes_too_long_is_given_up_and_its_process_ended() -> None:
    assert await reason(MediaType.PDF, pdf_of("a"), limit_s=0.001) == "too_slow"
    assert children() == []


async def test_a_document_that_unpacks_to_more_than_all_memory_is_refused() -> None:
    bomb = pdf_bomb(200_000_000)
    assert len(bomb) < 1_000_000
    assert await reason(MediaType.PDF, bomb) in ("malformed", "too_large", "no_text")


async def test_a_caller_who_leaves_leaves_no_process() -> None:
    async with asyncio.TaskGroup() as group:
        reading = group.create_task(reader().read(MediaType.DOCX, docx_of(("Normal", "text"))))
        await eventually(lambda: bool(children()))
        reading.cancel()
    assert children() == []


async def test_the_process_does_not_get_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRILLYARD_DATABASE_URL", "postgresql://drillyard:secret@nowhere/drillyard")
    async with asyncio.TaskGroup() as group:
        reading = group.create_task(reader().read(MediaType.DOCX, docx_of(("Normal", "text"))))
        await eventually(lambda: bool(children()))
        environment = environments()
        await reading
    assert b"PYTHONPATH" in environment
    assert b"secret" not in environment
