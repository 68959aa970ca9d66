"""Documents in each format, made here: what they say is in the tests, not in files that nobody can read."""

import zlib
from collections.abc import Sequence
from io import BytesIO

import docx


def pdf_of(*pages: str, encrypted: bool = False) -> bytes:
    """A PDF with a text layer in a standard font, a line of text for each line."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for text in pages:
        shown = " ".join(f"({_escaped(line)}) Tj 0 -14 Td" for line in text.split("\n"))
        drawn = f"BT /F1 12 Tf 60 780 Td {shown} ET" if text else ""
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >>"
            f" /Contents {len(objects)} 0 R >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    extra = ""
    if encrypted:
        objects.append(f"<< /Filter /Standard /V 1 /R 2 /O <{'00' * 32}> /U <{'00' * 32}> /P -4 >>")
        extra = f" /Encrypt {len(objects)} 0 R /ID [<00> <00>]"
    return _pdf_file(objects, extra)


def pdf_bomb(size: int) -> bytes:
    """A page whose drawing is `size` bytes of blanks once it is unpacked."""
    packed = zlib.compress(b" " * size, 9).decode("latin-1")
    drawing = f"<< /Length {len(packed)} /Filter /FlateDecode >>\nstream\n{packed}\nendstream"
    page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << >> /Contents 3 0 R >>"
    pages = "<< /Type /Pages /Kids [4 0 R] /Count 1 >>"
    return _pdf_file(["<< /Type /Catalog /Pages 2 0 R >>", pages, drawing, page], "")


def _escaped(line: str) -> str:
    return line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def _pdf_file(objects: Sequence[str], extra: str) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, content in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1")
    table = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += "".join(f"{place:010} 00000 n \n" for place in places).encode()
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R{extra} >>\nstartxref\n{table}\n%%EOF\n".encode()
    return bytes(out)


def docx_of(*parts: tuple[str, str] | Sequence[Sequence[str]]) -> bytes:
    """A DOCX of paragraphs, each with the name of its style, and of tables, each a list of rows."""
    made = docx.Document()
    for part in parts:
        if isinstance(part, tuple):
            style, text = part
            made.add_paragraph(text, style=style)
        else:
            table = made.add_table(rows=0, cols=len(part[0]))
            for row in part:
                for cell, text in zip(table.add_row().cells, row, strict=True):
                    cell.text = text
    held = BytesIO()
    made.save(held)
    return held.getvalue()
