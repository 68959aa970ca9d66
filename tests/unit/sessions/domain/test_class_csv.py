"""Classes out of tables, and what is wrong with tables."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.domain.class_csv import COLUMNS, read_csv
from sessions.domain.class_rows import MOST_ROWS, ClassFile, ClassRow, RowDefaults

ALL = RowDefaults(scenario="Renewal", trainees=20, timezone="Europe/Berlin", minutes=45)
NONE = RowDefaults()
NINE = datetime(2026, 12, 1, 8, tzinfo=UTC)
FORTY_FIVE = datetime(2026, 12, 1, 8, 45, tzinfo=UTC)


def read(text: str, defaults: RowDefaults = ALL) -> ClassFile:
    return read_csv(text.encode(), defaults)


def faults(text: str, defaults: RowDefaults = ALL) -> list[tuple[str, str]]:
    found = read(text, defaults)
    assert not found.rows
    return [(fault.place, fault.detail) for fault in found.faults]


def test_a_row_says_everything_itself() -> None:
    found = read(
        "name,scenario,starts_at,ends_at,timezone,expected_trainees,seats,walk_ins,turns_in_flight,key\r\n"
        "周一,Angry,2026-12-01 09:00,2026-12-01 09:45,Europe/Berlin,30,25,5,20,mon-1\r\n",
        NONE,
    )
    row = ClassRow("line 2", "mon-1", "周一", NINE, FORTY_FIVE, "Angry", 30, 25, 5, 20)
    assert found == ClassFile((row,), ())


def test_what_a_row_does_not_say_holds_for_all() -> None:
    (row,) = read("name,starts_at\nA,2026-12-01 09:00\n").rows
    assert (row.starts_at, row.ends_at, row.scenario, row.expected_trainees) == (NINE, FORTY_FIVE, "Renewal", 20)
    assert (row.seats, row.walk_ins, row.turns_in_flight, row.is_cancelled) == (None, 0, None, False)


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffName;Starts_At;Minutes\r\nA;2026-12-01 09:00;45\r\n",
        "name\tstarts_at\tends_at\nA\t2026-12-01T08:00:00Z\t2026-12-01T08:45:00Z",
        'name , starts_at\n\n"A",2026-12-01T09:00:00+01:00\n,\n',
        '"name","starts_at"\n"A","2026-12-01 09:00:00"\n',
    ],
)
def test_tables_as_spreadsheets_write_them(text: str) -> None:
    (row,) = read(text).rows
    assert (row.name, row.starts_at, row.ends_at) == ("A", NINE, FORTY_FIVE)


def test_quoted_cells_hold_anything_and_lines_are_counted_as_editors_do() -> None:
    found = read('name,starts_at,key\n"A, B; C",2026-12-01 09:00,"1\n2"\nD,never,3\n')
    assert [row.name for row in found.rows] == ["A, B; C"]
    assert [fault.place for fault in found.faults] == ["line 4, starts_at"]


def test_without_a_key_a_class_is_known_by_name_scenario_and_start() -> None:
    head = "name,scenario,starts_at,seats\n"
    one, other = (read(head + f"A,Angry,2026-12-01 09:00,{seats}\n").rows[0] for seats in (3, 4))
    assert one.key == other.key
    for differs in ("B,Angry,2026-12-01 09:00,3", "A,Calm,2026-12-01 09:00,3", "A,Angry,2026-12-01 10:00,3"):
        assert read(f"{head}{differs}\n").rows[0].key != one.key


@pytest.mark.parametrize(
    ("row", "column", "words"),
    [
        (",2026-12-01 09:00,,,,,,,,,", "name", "empty"),
        ("A\x07,2026-12-01 09:00,,,,,,,,,", "name", "control"),
        ("A" * 201 + ",2026-12-01 09:00,,,,,,,,,", "name", "200"),
        ("A,1.12.2026 9:00,,,,,,,,,", "starts_at", "written as 2026-12-01 09:00"),
        ("A,,,,,,,,,,", "starts_at", "written as"),
        ("A,2026-02-30 09:00,,,,,,,,,", "starts_at", "day"),
        ("A,0001-01-01 00:00,,,,,,,,,", "starts_at", "too far"),
        ("A,2026-03-29 02:30,,,,,,,,,", "starts_at", "skip"),
        ("A,2026-12-01 09:00,later,,,,,,,,", "ends_at", "written as"),
        ("A,2026-12-01 09:00,2026-12-01 10:00,45,,,,,,,", "minutes", "an end already"),
        ("A,2026-12-01 09:00,,0,,,,,,,", "minutes", "1 to 10080"),
        ("A,2026-12-01 09:00,,,Berlin,,,,,,", "timezone", "Europe/Berlin"),
        ("A,2026-12-01 09:00,,,,,no,,,,", "expected_trainees", "1 to 1000000"),
        ("A,2026-12-01 09:00,,,,,0,,,,", "expected_trainees", "1 to 1000000"),
        ("A,2026-12-01 09:00,,,,,,-1,,,", "seats", "0 to 1000000"),
        ("A,2026-12-01 09:00,,,,,,,1.5,,", "walk_ins", "0 to 1000000"),
        ("A,2026-12-01 09:00,,,,,,,,0,", "turns_in_flight", "1 to 1000000"),
    ],
)
def test_a_fault_names_line_and_column(row: str, column: str, words: str) -> None:
    head = "name,starts_at,ends_at,minutes,timezone,scenario,expected_trainees,seats,walk_ins,turns_in_flight,key\n"
    ((place, detail),) = faults(head + row + "\n")
    assert place == f"line 2, {column}"
    assert words in detail


def test_all_faults_are_told_at_once() -> None:
    found = faults("name,starts_at,seats\n,x,y\nB,2026-12-01 09:00,z\n")
    assert [place for place, _ in found] == ["line 2, name", "line 2, starts_at", "line 2, seats", "line 3, seats"]


def test_what_nobody_has_given_is_missing() -> None:
    found = dict(faults("name,starts_at\nA,2026-12-01T09:00:00Z\nB,2026-12-01 09:00", NONE))
    assert list(found) == [
        *(f"line 2, {column}" for column in ("ends_at", "scenario", "expected_trainees")),
        *(f"line 3, {column}" for column in ("starts_at", "ends_at", "scenario", "expected_trainees")),
    ]
    assert found["line 3, starts_at"] == "its time zone is missing, and none was given for all classes"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the column name is missing"),
        ("name\nA\n", "the column starts_at is missing"),
        ("name,starts_at,name\n", "there twice"),
        ("name,starts_at,teacher\n", "no column 'teacher'"),
        ('name,starts_at\n"A,2026-12-01 09:00\n', "no row of a table"),
        ("name,starts_at\nA,2026-12-01 09:00,x\n", "3 cells under 2 columns"),
    ],
)
def test_what_is_no_such_table_is_said(text: str, words: str) -> None:
    assert any(words in detail for _, detail in faults(text))


def test_bytes_that_are_no_text_are_refused() -> None:
    (fault,) = read_csv("name;starts_at\nMünchen;x".encode("cp1252"), ALL).faults
    assert "UTF-8" in fault.detail


def test_a_file_has_only_so_many_rows() -> None:
    row = "A,2026-12-01 09:00\n"
    assert len(read("name,starts_at\n" + row * MOST_ROWS).rows) == MOST_ROWS
    ((place, detail),) = faults("name,starts_at\n" + row * (MOST_ROWS + 1))
    assert (place, detail) == (f"line {MOST_ROWS + 3}", f"a file has {MOST_ROWS} classes at most")


@pytest.mark.timeout(20)
def test_a_header_of_very_many_columns_is_refused_at_once() -> None:
    assert len(faults("a," * 500_000)) < 30
    assert len(faults(",".join(map(str, range(200_000))))) < 30


@given(st.text('nameкA,;"\n\r\t0-: \0', max_size=80) | st.text(max_size=40))
def test_no_text_does_anything_but_be_read_or_be_refused(text: str) -> None:
    read(text)
    found = read(f"{','.join(COLUMNS)}\n{text}")
    assert all(row.name.strip() and row.starts_at.tzinfo is UTC for row in found.rows)
