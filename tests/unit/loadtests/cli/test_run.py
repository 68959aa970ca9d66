"""`drillyard load run` says what is wrong before it plays, and leaves with 2."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from loadtests.cli.load import app


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["run", *words])


def test_a_plan_is_printed_without_asking_anybody(tmp_path: Path) -> None:
    told = run("class", "--trainees", "30", "--turns", "3-5", "--plan", "--json", "--data", str(tmp_path))
    assert told.exit_code == 0, told.output
    plan = json.loads(told.stdout)
    assert plan["offered"]["trainees"] == 30
    assert 90 <= plan["offered"]["turns"] <= 150
    assert plan["drill"]["turns"] == [3, 5]


def test_the_help_says_where_the_defaults_of_each_shape_are_told() -> None:
    assert "by default as `drillyard load shapes` tells" in run("--help").stdout


def test_a_plan_knows_what_is_taken_away() -> None:
    told = run("class", "--plan", "--json", "--without", "affinity")
    assert json.loads(told.stdout)["drill"]["affinity"] == "none"


def test_a_chat_has_a_model_and_a_beginning_also_where_affinity_is_taken_away() -> None:
    for words in (("--wire", "chat"), ("--without", "affinity")):
        assert run("class", "--plan", "--model", "m", "--system", __file__, *words).exit_code == 0


def test_crowds_are_shares() -> None:
    told = run("class", "--plan", "--json", "--leavers", "0.2", "--hostile", "0.1", "--think", "2", "--seed", "7")
    drill = json.loads(told.stdout)["drill"]
    assert drill["crowd"] == {"leavers": 0.2, "reconnecting": 0.0, "impatient": 0.0, "hostile": 0.1}
    assert (drill["think_s"], drill["seed"]) == (2.0, 7)
    assert run("class", "--plan", "--leavers", "1.5").exit_code == 2


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("class",), "no running stack"),
        (("class", "--base-url", "http://drills.example"), "drills.example is not this machine"),
        (("class", "--base-url", "http://localhost@evil.example"), "no plain address"),
        (("class", "--base-url", "http://127.0.0.1:1"), "--keys-file"),
        (("class", "--leavers", "0.7", "--hostile", "0.7", "--plan"), "at most 1"),
        (("class", "--fleet", "moon:3"), "moon:3"),
        (("class", "--fleet", "sim"), "a fleet is sim:N"),
        (("class", "--fleet", "sim:2:nope"), "nope is neither a readable file nor one of"),
        (("class", "--fleet", "sim:2", "--base-url", "http://127.0.0.1:1"), "give one of them"),
        (("class", "--faults", "boom@3", "--plan"), "unknown kind boom"),
        (("class", "--reply-tokens", "9", "--plan"), "--wire chat"),
        (("class", "--targets", "none.yaml"), "none.yaml"),
        (("class", "--system", "none.txt"), "none.txt"),
        (("class", "--model", "m", "--plan"), "--model: of --wire chat alone"),
        (("class", "--system", __file__, "--plan"), "--system: of --wire chat alone"),
        (("class", "--without", "pre-scaling"), "--fleet"),
        (("class", "--turns", "5-3"), "the least is written first"),
        (("class", "--history", "20"), "--wire chat"),
        (("party",), "party"),
        (("trace", "--trace", "none.csv", "--plan"), "none.csv"),
    ],
)
def test_what_cannot_be_played_leaves_with_2_and_says_why(tmp_path: Path, words: tuple[str, ...], why: str) -> None:
    told = run(*words, "--data", str(tmp_path))
    assert told.exit_code == 2
    assert why in " ".join(told.stderr.replace("│", " ").split())
    assert "Traceback" not in told.output
