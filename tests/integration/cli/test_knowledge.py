"""The commands for knowledge against the API over real HTTP."""

from pathlib import Path

import pytest

from tests.integration.cli.api_thread import Running
from tests.integration.cli.conftest import Command, Ended
from tests.support.document_files import docx_of, pdf_of

TEXT = "A pump costs 48 yuan."


@pytest.fixture
def knowledge(drillyard: Command, api: Running) -> Command:
    def run(*words: str) -> Ended:
        return drillyard("knowledge", *words, "--base-url", api.house.base_url, "--key", api.instructor_key)

    return run


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Where a document of each suffix is."""
    written = {
        "a.txt": TEXT.encode(),
        "b.md": f"# Prices\n\n{TEXT}".encode(),
        "c.HTML": f"<p>{TEXT}</p>".encode(),
        "d.pdf": pdf_of(TEXT),
        "e.docx": docx_of(("Normal", TEXT)),
        "f.png": b"no text",
        "g.txt": b"\xff",
    }
    for name, raw in written.items():
        (tmp_path / name).write_bytes(raw)
    return {name: str(tmp_path / name) for name in written}


def test_a_base_is_made_and_the_same_one_again_is_the_first(knowledge: Command) -> None:
    made = knowledge("create", "products", "--guidance", "Quote prices exactly.")
    assert made.code == 0, made
    assert len(made.out.strip()) == 36
    assert knowledge("create", "products", "--guidance", "Quote prices exactly.").out == made.out
    other = knowledge("create", "products")
    assert other.code == 1
    assert "knowledge_base_exists" in other.err
    listed = knowledge("list")
    assert listed.code == 0
    assert made.out.strip() in listed.out
    assert "products" in listed.out


def test_files_of_every_kind_are_added_and_said_to_be_so(knowledge: Command, files: dict[str, str]) -> None:
    knowledge("create", "products")
    good = [files[name] for name in ("a.txt", "b.md", "c.HTML", "d.pdf", "e.docx")]
    added = knowledge("add", "products", *good)
    assert added.code == 0, added
    assert added.out.splitlines() == [
        f"[{number}/5] {Path(file).name}: added, 1 chunks, 5 tokens" for number, file in enumerate(good, start=1)
    ]
    Path(files["b.md"]).write_text("# Prices\n\nA pump costs 52 yuan now.")
    again = knowledge("add", "products", files["a.txt"], files["b.md"])
    assert again.out.splitlines() == [
        "[1/2] a.txt: unchanged, 1 chunks, 5 tokens",
        "[2/2] b.md: replaced, 1 chunks, 6 tokens",
    ]
    listed = knowledge("list", "products")
    for shown in ("a.txt", "c.HTML", "html", "e.docx", "docx", "txt", "pdf"):
        assert shown in listed.out


def test_what_is_not_taken_is_told_and_the_rest_is_in(knowledge: Command, files: dict[str, str]) -> None:
    knowledge("create", "products")
    ended = knowledge("add", "products", files["f.png"], files["a.txt"], files["g.txt"], files["a.txt"] + "x.txt")
    assert ended.code == 1
    assert ended.out == "[2/4] a.txt: added, 1 chunks, 5 tokens\n"
    assert "[1/4] f.png: not taken: its name ends on none of .txt, .md" in ended.err
    assert "[3/4] g.txt: not taken: 422 document_unreadable: the document is not UTF-8" in ended.err
    assert "[4/4] a.txtx.txt: not taken: No such file" in ended.err
    assert "3 of 4 documents were not taken" in ended.err
    assert "Traceback" not in ended.err


def test_files_of_one_name_are_refused_before_any_is_sent(knowledge: Command, files: dict[str, str]) -> None:
    knowledge("create", "products")
    ended = knowledge("add", "products", files["a.txt"], files["a.txt"])
    assert ended.code == 1
    assert "same name" in ended.err
    assert "a.txt" not in knowledge("list", "products").out


def test_documents_and_bases_are_removed(knowledge: Command, files: dict[str, str]) -> None:
    base = knowledge("create", "products").out.strip()
    knowledge("add", base, files["a.txt"], files["b.md"])
    missing = knowledge("remove", "products", "a.txt", "z.txt")
    assert missing.code == 1
    assert "no document 'z.txt'" in missing.err
    assert "a.txt" in knowledge("list", "products").out
    assert knowledge("remove", "products", "a.txt", "a.txt").out == "a.txt is removed\n"
    for words in (("remove", "products"), ("remove", "products", "b.md", "--whole")):
        unclear = knowledge(*words)
        assert unclear.code == 1
        assert "--whole" in unclear.err
    assert knowledge("remove", base, "--whole").out == "products is removed, with 1 document\n"
    gone = knowledge("list", "products")
    assert gone.code == 1
    assert "there is no knowledge base 'products'" in gone.err


def test_another_role_is_told_what_it_may_not(drillyard: Command, api: Running) -> None:
    ended = drillyard("knowledge", "create", "x", "--base-url", api.house.base_url, "--key", api.key)
    assert ended.code == 1
    assert "may not write knowledge" in ended.err


def test_help_shows_how_it_is_used(drillyard: Command) -> None:
    for words in ((), ("create",), ("add",), ("list",), ("remove",)):
        told = drillyard("knowledge", *words, "--help")
        assert told.code == 0
        assert "knowledge" in told.out
