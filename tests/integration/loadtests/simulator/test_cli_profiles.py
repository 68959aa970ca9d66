"""`drillyard sim profiles` and `drillyard sim calibrate`, the latter on a simulated replica over HTTP."""

from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from loadtests.simulator.cli import app
from loadtests.simulator.domain.profile import DecodeCost, PrefillCost
from loadtests.simulator.domain.timing import Chunk, chunk_ms
from loadtests.simulator.profile_files import load, text_of
from tests.support.engine_process import free_port
from tests.support.simulator_process import simulator

KNOWN = replace(
    load("cpu-smollm2"),
    name="known",
    prefill=PrefillCost(base_ms=60, per_token_ms=0.5, per_pair_ms=0.0001),
    decode=DecodeCost(weights_ms=12, per_sequence_ms=2),
)


def test_the_profiles_are_listed() -> None:
    shown = CliRunner().invoke(app, ["profiles"])
    assert shown.exit_code == 0
    assert all(name in shown.output for name in ("cpu-smollm2", "48gb-14b-before", "48gb-14b-after", "h200-7b"))


def test_a_profile_shows_where_each_figure_comes_from() -> None:
    shown = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["profiles", "cpu-smollm2"])
    assert shown.exit_code == 0
    assert "prefill.per_pair_ms" in shown.output
    assert "measured" in shown.output


def test_an_unknown_profile_is_said_to_be_unknown() -> None:
    shown = CliRunner().invoke(app, ["profiles", "nothing"])
    assert shown.exit_code == 1
    assert "no such profile" in shown.output


def test_a_replica_is_calibrated_over_http(tmp_path: Path) -> None:
    known, found = tmp_path / "known.json", tmp_path / "found.json"
    known.write_text(text_of(KNOWN))
    flags = ("--profile", str(known), "--speed-up", "1", "--load-s", "0", "--enable-prompt-tokens-details")
    with simulator(*flags) as replica:
        arguments = ["calibrate", replica.url, "--out", str(found), "--like", str(known), "--rounds", "1"]
        called = CliRunner().invoke(app, arguments)
    assert called.exit_code == 0, called.output
    measured = load(str(found))
    assert measured.name == "found"
    assert measured.decode.weights_ms == pytest.approx(KNOWN.decode.weights_ms, rel=0.1)
    # The machine adds some milliseconds of its own to each turn, and more when it is busy.
    for uncached, cached in ((100, 1_000), (400, 500), (1_600, 0)):
        chunk = Chunk(uncached, cached, opens=True)
        assert chunk_ms(measured.prefill, chunk) == pytest.approx(chunk_ms(KNOWN.prefill, chunk), rel=0.2)


def test_a_replica_that_is_not_there_cannot_be_calibrated(tmp_path: Path) -> None:
    out = tmp_path / "found.json"
    called = CliRunner().invoke(app, ["calibrate", f"http://127.0.0.1:{free_port()}", "--out", str(out)])
    assert called.exit_code == 1
    assert "cannot calibrate" in called.output
    assert not out.exists()
