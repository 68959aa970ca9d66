"""Phrase lists in files, and what is wrong with them line by line."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.cli.phrase_file import PhraseFile, PhraseFileFaulty, csv_of, read_file

HEADER = "text,id,category,severity,action,spelling\n"
CELLS = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\u2028\u2029"), min_size=1, max_size=12
).filter(lambda text: text == text.strip() and bool(text))


def read(folder: Path, name: str, said: str | bytes) -> PhraseFile:
    path = folder / name
    path.write_bytes(said if isinstance(said, bytes) else said.encode())
    return read_file(path)


def faults(folder: Path, name: str, said: str | bytes) -> list[tuple[int, str]]:
    with pytest.raises(PhraseFileFaulty) as refused:
        read(folder, name, said)
    return list(refused.value.faults)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_text_has_a_phrase_a_line(tmp_path: Path, mark: str, end: str) -> None:
    lines = ["# our words", "", "保本高收益", "   ", "  guaranteed returns  ", "#end"]
    found = read(tmp_path, "words.TXT", mark + end.join(lines) + end)
    assert found.phrases == [{"text": "保本高收益"}, {"text": "guaranteed returns"}]
    assert [found.line_of(f"phrases.{at}.text") for at in (0, 1, 2)] == [3, 5, 0]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_row_says_what_its_columns_name(tmp_path: Path, mark: str) -> None:
    rows = 'Text , severity,action,ID\n\n保本高收益,3,MASK,r1\n,,,\n"a, b",,,\n"over\ntwo lines",,,\nfine,,allow,\n'
    found = read(tmp_path, "words.csv", mark + rows)
    assert found.phrases == [
        {"text": "保本高收益", "severity": 3, "action": "mask", "id": "r1"},
        {"text": "a, b"},
        {"text": "over\ntwo lines"},
    ]
    assert found.allowed == ["fine"]
    assert [found.line_of(f"phrases.{at}.id") for at in (0, 1, 2)] == [3, 5, 6]
    assert found.line_of("allowed.0") == 8
    assert found.line_of("name") == found.line_of("phrases") == 0


@pytest.mark.parametrize("said", ['{"phrases": [{"text": "one"}], "allowed": ["fine"]}', '[{"text": "one"}]'])
def test_json_is_as_the_api_has_it(tmp_path: Path, said: str) -> None:
    found = read(tmp_path, "words.json", said)
    assert found.body()["phrases"] == [{"text": "one"}]


@pytest.mark.parametrize(
    ("name", "said", "line"),
    [
        ("words.csv", "", 1),
        ("words.csv", "phrase,id\nx,y\n", 1),
        ("words.csv", "text,text\nx,y\n", 1),
        ("words.csv", "text,colour\nx,y\n", 1),
        ("words.csv", HEADER + "fine,,,,,\nfine,,,,,,\n", 3),
        ("words.csv", HEADER + ",r1,,,,\n", 2),
        ("words.csv", HEADER + "fine,,,5,,\n", 2),
        ("words.csv", HEADER + "fine,,,high,,\n", 2),
        ("words.csv", HEADER + '"open,,,,,\n', 2),
        ("words.csv", b"text\nfine\nb\xe4d\n", 3),
        ("words.txt", "fine\n".encode("utf-16"), 1),
        ("words.json", '{"phrases": [\n{"text": }]}', 2),
        ("words.json", '{"words": []}', 0),
        ("words.json", "[" * 200_000, 0),
        ("words.json", '"text"', 0),
        ("words.json", '{"phrases": [1], "allowed": 5}', 0),
        ("words.json", '{"phrases": [], "allowed": {"fine": 1}}', 0),
        ("words.json", '{"phrases": [NaN]}', 0),
        ("words.json", '{"phrases": [1e999]}', 0),
        ("words.json", '{"phrases": [' + "9" * 5_000 + "]}", 0),
        ("words.json", '{"phrases": ["\\ud800"]}', 0),
        ("words.docx", "text", 0),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(tmp_path: Path, name: str, said: str | bytes, line: int) -> None:
    assert [at for at, _ in faults(tmp_path, name, said)] == [line]


def test_every_faulty_row_is_told(tmp_path: Path) -> None:
    told = faults(tmp_path, "words.csv", HEADER + ",r1,,,,\nfine,,,,,\nfine,,,9,,\n")
    assert [line for line, _ in told] == [2, 4]


@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {"text": CELLS, "id": CELLS, "category": CELLS},
            optional={"severity": st.integers(1, 4), "action": st.sampled_from(["flag", "mask", "block"])},
        ),
        max_size=5,
    ),
    allowed=st.lists(CELLS, max_size=3),
)
def test_what_is_written_is_read_as_the_same(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, object]], allowed: list[str]
) -> None:
    found = read(tmp_path_factory.getbasetemp(), "written.csv", csv_of(rows, allowed))
    assert (found.phrases, found.allowed) == (rows, allowed)
    path = tmp_path_factory.getbasetemp() / "written.json"
    path.write_text(json.dumps({"phrases": rows, "allowed": allowed}))
    assert read_file(path).body() == {"phrases": rows, "allowed": allowed}
