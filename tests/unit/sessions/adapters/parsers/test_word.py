"""Word documents: headings, lists, tables, and what is refused before it is unpacked."""

from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from sessions.adapters.parsers import word
from sessions.adapters.parsers.word import blocks
from sessions.errors import DocumentUnreadable
from tests.support.document_files import docx_of


def reason(raw: bytes) -> str:
    with pytest.raises(DocumentUnreadable) as caught:
        list(blocks(raw, 1))
    return caught.value.reason


def zipped(**parts: str) -> bytes:
    held = BytesIO()
    with ZipFile(held, "w", ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return held.getvalue()


def with_body(xml: str) -> bytes:
    """A document whose body is this WordprocessingML."""
    made = docx.Document()
    for element in parse_xml(f"<w:body {nsdecls('w')}>{xml}</w:body>"):
        made.element.body.insert(len(made.element.body) - 1, element)
    held = BytesIO()
    made.save(held)
    return held.getvalue()


def test_paragraphs_stand_under_their_headings() -> None:
    raw = docx_of(
        ("Title", "Handbook"),
        ("Normal", "Before."),
        ("Heading 1", "Prices"),
        ("Normal", "A pump costs 48 yuan."),
        ("Normal", "  "),
        ("Heading 2", "折扣"),
        [["Model", "Price"], ["AX-4471", "48 yuan"], ["", ""]],
        ("Heading 1", "Terms"),
        ("Normal", "Thirty days."),
    )
    assert [(" > ".join(block.headings), block.text) for block in blocks(raw, 1)] == [
        ("Handbook", "Before."),
        ("Handbook > Prices", "A pump costs 48 yuan."),
        ("Handbook > Prices > 折扣", "Model | Price"),
        ("Handbook > Prices > 折扣", "AX-4471 | 48 yuan"),
        ("Handbook > Terms", "Thirty days."),
    ]


def test_text_is_found_wherever_word_puts_it() -> None:
    raw = with_body(
        '<w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>Own level</w:t></w:r></w:p>'
        '<w:p><w:pPr><w:outlineLvl w:val="9"/></w:pPr><w:r><w:t>Body</w:t></w:r></w:p>'
        '<w:p><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>an item</w:t></w:r></w:p>'
        "<w:p><w:r><w:t>kept</w:t><w:tab/><w:t>and</w:t><w:br/></w:r><w:ins><w:r><w:t>inserted</w:t></w:r></w:ins>"
        "<w:del><w:r><w:delText>deleted</w:delText></w:r></w:del>"
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>"
        "<w:hyperlink><w:r><w:t> a link</w:t></w:r></w:hyperlink></w:p>"
        "<w:sdt><w:sdtContent><w:p><w:r><w:t>in a control</w:t></w:r></w:p></w:sdtContent></w:sdt>"
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>outer</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>inner</w:t></w:r>"
        "</w:p></w:tc></w:tr></w:tbl><w:p/></w:tc></w:tr></w:tbl>"
    )
    assert [(block.headings, block.text) for block in blocks(raw, 1)] == [
        (("Own level",), "Body"),
        (("Own level",), "- an item"),
        (("Own level",), "kept\tand\ninserted a link"),
        (("Own level",), "in a control"),
        (("Own level",), "outer inner"),
    ]


def test_what_cannot_be_read_is_refused_with_its_reason() -> None:
    assert reason(b"this is no archive") == "malformed"
    assert reason(bytes.fromhex("d0cf11e0a1b11ae1") + b"rest") == "encrypted"
    assert reason(zipped(**{f"part{number}": "" for number in range(word.MAX_PARTS + 1)})) == "too_large"


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    held = BytesIO()
    with ZipFile(held, "w", ZIP_DEFLATED) as archive, archive.open("word/document.xml", "w") as part:
        for _ in range(word.MAX_EXPANDED_BYTES // (1 << 24) + 1):
            part.write(bytes(1 << 24))
    assert len(held.getvalue()) < 1 << 20
    assert reason(held.getvalue()) == "too_large"


def test_entities_of_the_document_itself_are_not_expanded() -> None:
    raw = docx_of(("Normal", "MARK"))
    held = BytesIO()
    with ZipFile(BytesIO(raw)) as archive, ZipFile(held, "w") as forged:
        for name in archive.namelist():
            content = archive.read(name)
            if name == "word/document.xml":
                head, _, rest = content.partition(b"?>")
                entity = b'<!DOCTYPE d [<!ENTITY e SYSTEM "file:///etc/passwd"><!ENTITY l "lol">]>'
                content = head + b"?>" + entity + rest.replace(b"MARK", b"a &e;&l; b")
            forged.writestr(name, content)
    assert not any("root:" in block.text or "lol" in block.text for block in blocks(held.getvalue(), 1))
