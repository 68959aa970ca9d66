"""The commands for moderation against the API over real HTTP."""

import csv
import io
import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.cli.api_thread import Running
from tests.integration.cli.conftest import Command, Ended

SAMPLES = Path(__file__).parents[3] / "deploy/moderation"
Moderation = Callable[..., Ended]


@pytest.fixture
def moderation(drillyard: Command, api: Running) -> Moderation:
    def run(*words: str) -> Ended:
        return drillyard("moderation", *words, "--base-url", api.house.base_url, "--key", api.instructor_key)

    return run


def written(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def flat(ended: Ended) -> str:
    """What it said on both ways, without the frames of tables."""
    return " ".join(re.sub(r"[│┃╭╮╰╯─┏┓┗┛━┡┩┳╇┴┬┼]", " ", f"{ended.out} {ended.err}").split())


@pytest.mark.parametrize(
    ("sample", "banned", "fine"),
    [
        ("zh.csv", ("这是保本高收益的产品", "稳-赚-不-赔", "wenzhuan bupei"), ("我们是行业第一梯队", "请多关照")),
        (
            "en.csv",
            ("We offer guaranteed returns.", "a r.i.s.k-free investment"),
            ("the anti-kickback rule", "Good day"),
        ),
    ],
)
def test_a_sample_list_comes_into_force(
    moderation: Moderation, sample: str, banned: tuple[str, ...], fine: tuple[str, ...]
) -> None:
    ended = moderation("import", str(SAMPLES / sample), "--name", "compliance", "--live")
    assert (ended.code, ended.out) == (0, "compliance: version 1 is written; version 1 is in force\n"), ended
    for text in banned:
        ended = moderation("check", text)
        assert (ended.code, ended.out.splitlines()[0]) == (3, "block: banned_phrase"), text
    for text in fine:
        assert (moderation("check", text).code, moderation("check", text).out) == (0, "allow\n"), text


def test_later_files_make_later_versions_and_the_same_one_makes_none(moderation: Moderation, tmp_path: Path) -> None:
    first, second = written(tmp_path, "a.txt", "old word\n"), written(tmp_path, "b.txt", "new word\n")
    assert "version 1 is written; none is in force" in moderation("import", first, "--name", "words").out
    assert "version 1 says this already; nothing is written" in moderation("import", first, "--name", "words").out
    assert (
        "version 2 is written; version 2 is in force" in moderation("import", second, "--name", "words", "--live").out
    )
    assert "version 2 says this already" in moderation("import", second, "--name", "words", "--live").out
    assert "words both all 2 2" in re.sub(r"[0-9a-f-]{36} ", "", flat(moderation("lists")))
    assert moderation("live", "words", "--version", "1").out == "words is in force in version 1\n"
    assert moderation("check", "an old word").code == 3
    assert moderation("live", "words", "--off").out == "words is out of force\n"
    assert moderation("check", "an old word").code == 0
    assert moderation("live", "words").out == "words is in force in version 2\n"
    assert "2 1" in flat(moderation("lists", "words"))
    assert moderation("archive", "words").out == "words is archived\n"
    ended = moderation("import", first, "--name", "words")
    assert (ended.code, "archived" in ended.err) == (1, True)


def test_what_is_exported_is_imported_as_the_same(moderation: Moderation, tmp_path: Path) -> None:
    moderation("import", str(SAMPLES / "zh.csv"), "--name", "compliance")
    exported = moderation("export", "compliance")
    assert next(csv.DictReader(exported.out.splitlines()))["text"] == "保本高收益"
    again = moderation("import", written(tmp_path, "again.csv", exported.out), "--name", "compliance")
    assert "version 1 says this already" in again.out
    as_json = moderation("export", "compliance", "--version", "1", "--json").out
    assert json.loads(as_json)["allowed"] == ["行业第一梯队"]
    again = moderation("import", written(tmp_path, "again.json", as_json), "--name", "compliance")
    assert "version 1 says this already" in again.out


def test_faults_are_told_with_their_lines(moderation: Moderation, tmp_path: Path) -> None:
    rows = "text,action,severity\nfine word,block,2\n\n!!!,block,2\nfine too,stop,2\n"
    ended = moderation("import", written(tmp_path, "bad.csv", rows), "--name", "bad")
    assert ended.code == 1
    assert "bad.csv:5: phrases.2.action" in ended.err
    ended = moderation("import", written(tmp_path, "bad.csv", rows.replace("stop", "flag")), "--name", "bad")
    assert (ended.code, "bad.csv:4: phrases.1.text: nothing is left" in ended.err) == (1, True)
    assert "bad.csv was not taken: 1 fault" in ended.err
    ended = moderation("import", written(tmp_path, "bad.csv", rows.replace(",2", ",9")), "--name", "bad")
    assert "bad.csv was not taken: 3 faults" in ended.err
    assert all(f"bad.csv:{line}: a severity" in ended.err for line in (2, 4, 5))
    many = written(tmp_path, "many.txt", "!\n" * 30)
    assert "... and 10 more" in moderation("import", many, "--name", "bad").err
    for missing in ("none.csv", "none.docx", written(tmp_path, "empty.txt", "# nothing\n\n")):
        assert moderation("import", missing, "--name", "bad").code == 1
    assert "bad" not in moderation("lists").out


def test_a_list_keeps_its_scenario_and_direction(moderation: Moderation, api: Running, tmp_path: Path) -> None:
    api.session()
    scenario = next(iter(api.house.ruled.book.scenarios))[1]
    file = written(tmp_path, "a.txt", "scene word\n")
    asked = ("import", file, "--name", "scene", "--scenario", str(scenario), "--live")
    assert moderation(*asked, "--direction", "output").code == 0
    assert moderation("check", "a scene word", "--scenario", str(scenario)).code == 0
    ended = moderation("check", "a scene word", "--scenario", str(scenario), "--direction", "output")
    assert (ended.code, "goes on: 'a '" in ended.out) == (3, True)
    ended = moderation(*asked)
    assert (ended.code, f"for output of {scenario}, for good" in ended.err) == (1, True)


def test_a_dry_run_shows_what_would_change(moderation: Moderation, api: Running, tmp_path: Path) -> None:
    api.session()
    file = written(tmp_path, "words.txt", "new word\n")
    ended = moderation("dry-run", file, "--text", "a new word", "--text", "none")
    assert ended.out.splitlines() == [
        "'a new word' (input): allow -> block",
        "  block by phrase 1 of dry-run version 1 (general) at 2-10",
        "1 of 2 texts would change",
        "now:  2 allowed, 0 flagged, 0 blocked",
        "then: 1 allowed, 0 flagged, 1 blocked",
    ]
    moderation("import", file, "--name", "words")
    ended = moderation("dry-run", "words", "--recent", "10")
    assert ended.out.splitlines()[0] == "0 of 0 texts would change"
    assert moderation("dry-run", "words").code == 2
    assert "no phrase list" in moderation("dry-run", "none", "--text", "a").err


def test_settings_are_shown_and_set_one_by_one(moderation: Moderation) -> None:
    assert "user block inherited 2.0" in flat(moderation("settings"))
    assert "user block 0.8 0.8" in flat(moderation("settings", "--user-block", "0.8", "--mask", "[...]"))
    shown = flat(moderation("settings", "--user-flag", "0.3"))
    assert all(row in shown for row in ("user block 0.8 0.8", "user flag 0.3 0.3", "mask '[...]' '[...]'"))
    assert "mask inherited '***'" in flat(moderation("settings", "--mask", "inherit", "--user-block", "inherit"))
    assert moderation("settings", "--user-block", "high").code == 2
    ended = moderation("settings", "--user-block", "0.1")
    assert (ended.code, "user.block" in ended.err) == (1, True)


def test_who_changed_what_is_shown(moderation: Moderation, tmp_path: Path) -> None:
    moderation("import", written(tmp_path, "a.txt", "secret word\n"), "--name", "words")
    moderation("settings", "--mask", "x")
    shown = flat(moderation("audit"))
    assert shown.index("settings_changed") < shown.index("list_created")
    assert "secret" not in shown
    assert "user_block none" in shown
    assert "None" not in shown
    assert "list_created" not in moderation("audit", "--most", "1").out


def test_who_may_not_is_told_so(drillyard: Command, api: Running) -> None:
    key = api.house.here.trainee.headers["authorization"].removeprefix("Bearer ")
    ended = drillyard("moderation", "lists", "--base-url", api.house.base_url, "--key", key)
    assert (ended.code, "may not read moderation" in ended.err) == (1, True)
    assert drillyard("moderation", "check", "x", "--direction", "both", "--key", key).code == 2


def test_twenty_thousand_phrases_come_into_force_in_seconds(moderation: Moderation, tmp_path: Path) -> None:
    rows = "".join(f"phrase number {number},r{number}\n" for number in range(20_000))
    file = written(tmp_path, "many.csv", f"text,id\n{rows}")
    began = time.monotonic()
    assert moderation("import", file, "--name", "many", "--live").code == 0
    assert moderation("check", "this is phrase number 19999").code == 3
    assert time.monotonic() - began < 30


def test_a_text_may_come_from_standard_input(moderation: Moderation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("您好\n".encode()), encoding="utf-8"))
    assert (moderation("check", "-").code, moderation("check", "-").code) == (0, 1)
    assert "empty" in moderation("check", "-").err


def test_what_is_no_text_is_told(moderation: Moderation, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.TextIOWrapper(io.BytesIO(b"ab\xff"), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", raw)
    for asked in (("check", "-"), ("check", "ab\udcff"), ("reviews", "--session", "ab\udcff")):
        refused = moderation(*asked)
        assert refused.code == 1
        assert "not UTF-8" in refused.err
    assert "no such turn" in moderation("review", "ab\udcff", "1").err


@pytest.mark.parametrize("score", ["much", "nan", "1e400"])
def test_what_is_no_score_is_told(moderation: Moderation, score: str) -> None:
    refused = moderation("settings", "--user-block", score)
    assert refused.code == 2
    assert "neither a number" in refused.err
