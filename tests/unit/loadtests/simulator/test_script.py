"""Scripts as they are written, and why some of them are none."""

from pathlib import Path

import pytest

from loadtests.simulator.domain.faults import FaultKind
from loadtests.simulator.domain.replies import Reply
from loadtests.simulator.script import UnusableScript, fault_entry, read_script, script_of


def replies(text: str) -> tuple[Reply, ...]:
    (rule,) = script_of(f'{{"replies": [{{"system": "s", "last": "l", "replies": [{text}]}}]}}').rules
    assert (rule.system, rule.last) == ("s", "l")
    return rule.replies


@pytest.mark.parametrize(
    ("written", "reply"),
    [
        ('"Hello."', Reply("Hello.")),
        ('{"text": ""}', Reply("")),
        ('{"pieces": ["He", "llo"]}', Reply("Hello", ("He", "llo"))),
        ('{"repeat": "no ", "times": 2}', Reply("no no ")),
        ('{"split": ["ab"]}', Reply("ab\nab\n", ("a", "b", "\n", "a", "b", "\n"))),
    ],
)
def test_a_reply_is_said_in_one_of_several_ways(written: str, reply: Reply) -> None:
    assert replies(written) == (reply,)


def test_a_long_reply_is_long() -> None:
    assert len(replies('{"long": 500}')[0].text) >= 500


@pytest.mark.parametrize(
    "text", ["{}x", '{"replies": 1}', '{"replies": [{"replies": [{"text": "a", "long": 3}]}]}', '{"more": 1}']
)
def test_what_is_no_script_is_said_to_be_none(text: str) -> None:
    with pytest.raises(UnusableScript):
        script_of(text)


def test_a_fault_s_time_counts_from_when_it_is_added() -> None:
    fault = fault_entry('{"kind": "freeze", "from_s": 2, "for_s": 3}').fault(now_s=10)
    assert (fault.kind, fault.from_s, fault.for_s) == (FaultKind.FREEZE, 12, 3)


def test_a_fault_without_a_kind_is_none() -> None:
    with pytest.raises(UnusableScript, match="kind"):
        fault_entry("{}")


def test_a_script_is_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "script.json").write_text('{"loading_factor": 3, "faults": [{"kind": "cut"}]}')
    script = read_script(tmp_path / "script.json")
    assert (script.loading_factor, len(script.faults)) == (3, 1)


def test_a_file_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(UnusableScript, match="nowhere"):
        read_script(tmp_path / "nowhere.json")


@pytest.mark.parametrize("field", ["factor", "from_s", "for_s", "period_s"])
def test_a_fault_without_end_in_its_figures_is_none(field: str) -> None:
    with pytest.raises(UnusableScript, match=field):
        fault_entry(f'{{"kind": "slow", "{field}": Infinity}}')
