import os
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from loadtests.conduct.stack import (
    ReplicaKind,
    RunningStack,
    StackFailed,
    StackPlan,
    UnknownFleet,
    command,
    own_stack,
    plan_of,
    read_ready,
)


def test_a_fleet_is_named_by_kind_number_and_profile() -> None:
    assert plan_of("sim:9") == StackPlan(kind=ReplicaKind.SIM, replicas=9)
    assert plan_of("sim:2:48gb-14b-before") == StackPlan(replicas=2, profile="48gb-14b-before")
    assert plan_of("vllm:2") == StackPlan(kind=ReplicaKind.VLLM, replicas=2)
    assert plan_of("sim:2:own.json:100") == StackPlan(replicas=2, profile="own.json", reply_tokens=100)
    assert plan_of("sim:2::100") == StackPlan(replicas=2, reply_tokens=100)
    assert str(plan_of("sim:9:cpu-smollm2")) == "sim:9:cpu-smollm2"
    assert str(plan_of("sim:9::80")) == "sim:9:48gb-14b-after:80"
    assert str(replace(plan_of("vllm:2"), is_prescaled=False)) == "vllm:2, not pre-scaled"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("", "a fleet is"),
        ("gpu:2", "a fleet is"),
        ("sim", "a fleet is sim:N"),
        ("sim:none", "none is no number"),
        ("sim:0", "0 is no number"),
        ("sim:65", "65 is no number"),
        ("sim:²", "is no number"),
        ("vllm:2:48gb-14b-after", "only simulated"),
        ("vllm:2::80", "only simulated"),
        ("sim:2:own.json:many", "many is no number of tokens"),
        ("sim:2:own.json:5:6", "a fleet is"),
    ],
)
def test_other_words_name_no_fleet(words: str, why: str) -> None:
    with pytest.raises(UnknownFleet, match=why):
        plan_of(words)


def words_of(plan: StackPlan) -> dict[str, str]:
    words = command(plan, Path("data"))[4:]
    return dict(pairwise(words))


def test_the_plan_is_what_up_is_told() -> None:
    plan = StackPlan(replicas=3, profile="own.json", speed_up=4, window_tokens=2048, model=Path("folder"))
    told = words_of(plan)
    assert told["--replicas"] == "3"
    assert (told["--profile"], told["--speed-up"], told["--window"]) == ("own.json", "4", "2048")
    assert (told["--data"], told["--port"], told["--model"]) == ("data", "0", "folder")
    assert "--by-calendar" not in told


def test_real_replicas_have_no_profile() -> None:
    told = words_of(StackPlan(kind=ReplicaKind.VLLM))
    assert told["--replica-kind"] == "vllm"
    assert not {"--profile", "--speed-up"} & set(told)


def test_without_pre_scaling_replicas_come_at_the_bell() -> None:
    told = words_of(StackPlan(is_prescaled=False, seats_per_replica=30))
    assert (told["--lead"], told["--seats"]) == ("0", "30")
    assert "--by-calendar" in told


def test_a_stack_that_does_not_come_up_says_why_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRILLYARD_REDIS_SERVER", "/nowhere/redis-server")
    said: list[str] = []
    before = children()
    with pytest.raises(StackFailed, match="redis") as failed, own_stack(StackPlan(replicas=1), say=said.append):
        pytest.fail("it cannot be up")
    assert said
    assert said[-1] in str(failed.value)
    assert children() <= before


def children() -> set[str]:
    """Others of this process are none of our business: the suite's own servers are among them."""
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


def test_where_no_stack_runs_there_is_no_ready_file(tmp_path: Path) -> None:
    stack = RunningStack(tmp_path, StackPlan())
    assert stack.logs == tmp_path / "logs"
    with pytest.raises(StackFailed, match="no stack runs"):
        stack.ready()
    stack.ready_file.write_text("[1]")
    with pytest.raises(StackFailed, match="no ready file"):
        read_ready(stack.ready_file)
