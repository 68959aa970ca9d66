"""What may be written in a targets file, and what is said of all the rest."""

from contextlib import suppress
from dataclasses import replace
from importlib.resources import files

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from loadtests.domain.limits import Limits
from loadtests.domain.targets import DEFAULT, Targets, UnusableTargets, read_targets, targets_at

SHIPPED = (files("loadtests.targets") / "class.yaml").read_text("utf-8")


def complaints(text: str) -> tuple[str, ...]:
    with pytest.raises(UnusableTargets) as refused:
        read_targets(text)
    return refused.value.complaints


def test_the_shipped_file_names_every_target_with_its_default() -> None:
    assert read_targets(SHIPPED) == DEFAULT
    assert set(yaml.safe_load(SHIPPED)) == set(DEFAULT.as_json())


def test_what_is_not_named_stays_and_null_lets_go() -> None:
    read = read_targets("ttft_p95_s: 2\ncold_share: null\ngood_e2e_s: ~\n")
    assert read == replace(DEFAULT, ttft_p95_s=2.0, cold_share=None, good_e2e_s=None)


def test_the_limits_of_a_good_turn_are_their_own() -> None:
    read = read_targets("good_ttft_s: 1\ngood_tpot_s: 0.05\ngood_e2e_s: 1e1\n")
    assert read.limits == Limits(ttft_s=1.0, tpot_s=0.05, e2e_s=10.0)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("ttft_p95: 1", "ttft_p95: no such target; is ttft_p95_s meant?"),
        ("warp: 9", "warp: no such target"),
        ("ttft_p95_s: -1", "ttft_p95_s: must be above 0"),
        ("ttft_p95_s: 0", "ttft_p95_s: must be above 0"),
        ("e2e_p95_s: nan", "e2e_p95_s: must be a finite number"),
        ("e2e_p95_s: .nan", "e2e_p95_s: must be a number, or null to let it go, not '.nan'"),
        ("e2e_p95_s: inf", "e2e_p95_s: must be a finite number"),
        ("e2e_p95_s: true", "e2e_p95_s: must be a number, or null to let it go, not 'true'"),
        ("e2e_p95_s: 1:30", "e2e_p95_s: must be a number, or null to let it go, not '1:30'"),
        ("e2e_p95_s: '8'", "e2e_p95_s: must be a number, or null to let it go"),
        ("cold_share: [0.1]", "cold_share: must be a number, or null to let it go"),
        ("cold_share: 1.01", "cold_share: must be from 0 to 1"),
        ("let_in: 0.5", "let_in: must be a whole number from 0"),
        ("let_in: -1", "let_in: must be a whole number from 0"),
        ("beyond: 0", "beyond: must be a whole number from 1"),
        ("beyond: 1.5", "beyond: must be a whole number from 1"),
        ("beyond: null", "beyond: cannot be let go"),
        ("confidence: 1", "confidence: must be from 0.5 and below 1"),
        ("confidence: 0.4", "confidence: must be from 0.5 and below 1"),
        ("? [a]\n: 1", "?: no such target"),
    ],
)
def test_what_cannot_be_meant_is_said_with_its_line(line: str, complaint: str) -> None:
    assert complaints(f"# first\n{line}") == (f"line 2: {complaint}",)


def test_all_complaints_come_at_once() -> None:
    assert complaints("ttft_p95_s: -1\nttft_p95_s: 1\nlet_in: x\n") == (
        "line 1: ttft_p95_s: must be above 0",
        "line 2: ttft_p95_s: stands here a second time",
        "line 3: let_in: must be a number, or null to let it go, not 'x'",
    )


def test_a_name_that_stands_twice_is_refused_even_with_the_same_value() -> None:
    assert complaints("let_in: 0\nlet_in: 0\n") == ("line 2: let_in: stands here a second time",)


def test_a_file_that_lets_everything_go_holds_nothing() -> None:
    text = "\n".join(f"{name}: null" for name in Targets.__dataclass_fields__ if name not in ("beyond", "confidence"))
    assert complaints(text) == ("every target is let go, so nothing could be missed",)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "names no target; `drillyard load targets` prints a file to start from"),
        ("# only words\n", "names no target; `drillyard load targets` prints a file to start from"),
        ("- ttft_p95_s\n", "line 1: expected lines such as `ttft_p95_s: 1.5`"),
        ("a: 1\nb: [\n", "line 3: not YAML: expected the node content, but found '<stream end>'"),
    ],
)
def test_what_is_no_targets_file_is_refused(text: str, complaint: str) -> None:
    assert complaints(text) == (complaint,)


@pytest.mark.parametrize("text", ["a: \x00", "[" * 1_500])
def test_what_no_parser_takes_is_refused(text: str) -> None:
    (complaint,) = complaints(text)
    assert complaint.startswith("not YAML: ")


def test_targets_of_a_larger_file_keep_its_lines() -> None:
    node = yaml.compose("drills:\n- targets:\n    let_in: x\n", Loader=yaml.SafeLoader)
    assert node is not None
    inner = node.value[0][1].value[0].value[0][1]
    with pytest.raises(UnusableTargets, match="line 3: let_in"):
        targets_at(inner)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(UnusableTargets):
        assert isinstance(read_targets(text), Targets)


def test_equal_targets_have_equal_digests() -> None:
    assert read_targets("let_in: 0\nbeyond: 5").digest == DEFAULT.digest
    assert read_targets("let_in: 1").digest != DEFAULT.digest
