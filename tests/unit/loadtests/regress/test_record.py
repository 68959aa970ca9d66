"""The record of regressions is appended to, and read however it was left."""

from pathlib import Path

from loadtests.domain.compared import Compared, Finding
from loadtests.domain.comparison import Comparison
from loadtests.domain.verdict import Whole
from loadtests.ledger.baselines import Place
from loadtests.ledger.comparing import Held, SideRuns
from loadtests.ledger.entry import Entry
from loadtests.regress.record import Record, row_of
from loadtests.regress.regression import Line, Regression

PLACE = Place("s", "class", "d-1", "m-1")
ENTRY = Entry(
    run="run-1",
    bell_at="2026-12-01T10:00:00+00:00",
    drill="d-1",
    targets="t-1",
    machine="m-1",
    shape="class",
    wire="turns",
    trainees=20,
    fleet=("2 x card",),
    revision="abc",
    is_changed=True,
    whole="passed",
)
SIDE = SideRuns(names=("run-0",), seen=(), circumstances=(), by_turn=())
WORSE = Compared(name="ttft_p95_s", before=1.0, after=1.5, finding=Finding.WORSE, low=0.2, high=0.8)
HELD = Held(
    before=SIDE,
    after=SIDE,
    comparison=Comparison(metrics=(WORSE,), of="sessions", units=(20, 20)),
    warnings=(),
    change=None,
)
LINE = Line(name="class", entries=(ENTRY,), baseline=("run-0",), held=HELD, place=PLACE)
FAILED = Line(name="kv", failure="the stack did not come up")


def row(*lines: Line) -> dict[str, object]:
    return row_of(Regression(suite="s", lines=lines), at="2026-12-01T10:05:00Z", change="a change", accepted=False)


def test_a_row_says_what_was_changed_and_what_came_of_it() -> None:
    told = row(LINE, FAILED)
    assert (told["suite"], told["change"], told["revision"], told["is_changed"]) == ("s", "a change", "abc", True)
    assert (told["fleet"], told["exit_code"], told["accepted"]) == (["2 x card"], 1, False)
    assert told["drills"] == [
        {
            "name": "class",
            "runs": ["run-1"],
            "verdict": Whole.PASSED,
            "baseline": ["run-0"],
            "worse": [{"name": "ttft_p95_s", "before": 1.0, "after": 1.5, "share": 0.5}],
            "better": [],
            "failure": None,
            "place": ["s", "class", "d-1", "m-1"],
        },
        {
            "name": "kv",
            "runs": [],
            "verdict": None,
            "baseline": [],
            "worse": [],
            "better": [],
            "failure": "the stack did not come up",
            "place": None,
        },
    ]


def test_a_row_of_nothing_is_a_row_all_the_same() -> None:
    assert row(FAILED)["revision"] == ""


def test_rows_are_read_as_they_were_appended(tmp_path: Path) -> None:
    record = Record(tmp_path / "new")
    assert record.rows() == ([], 0)
    assert record.last_acceptable() == {}
    record.append(row(FAILED))
    record.append(row(LINE))
    rows, unreadable = record.rows()
    assert [each["exit_code"] for each in rows] == [1, 1]
    assert unreadable == 0
    assert record.last_acceptable() == {PLACE: ("run-1",)}


def test_a_line_that_was_cut_off_swallows_no_other(tmp_path: Path) -> None:
    file = tmp_path / "regressions.jsonl"
    file.write_text('{"suite": "s"}\n[1]\n\n{"suite": "cut')
    Record(tmp_path).append(row(LINE))
    rows, unreadable = Record(tmp_path).rows()
    assert ([each["suite"] for each in rows], unreadable) == (["s", "s"], 2)


def test_an_empty_file_is_begun(tmp_path: Path) -> None:
    (tmp_path / "regressions.jsonl").write_text("")
    Record(tmp_path).append({"suite": "s"})
    assert (tmp_path / "regressions.jsonl").read_text() == '{"suite": "s"}\n'


def test_strange_rows_accept_nothing(tmp_path: Path) -> None:
    for drills in (None, 3, [3], [{"place": ["a"], "runs": ["r"]}], [{"place": ["a", "b", "c", "d"], "runs": None}]):
        Record(tmp_path).append({"drills": drills})
        assert Record(tmp_path).last_acceptable() == {}
