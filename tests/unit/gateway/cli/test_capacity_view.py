import json
from dataclasses import replace
from io import StringIO

from rich.console import Console
from rich.table import Table

from gateway.cli.capacity_view import as_json, budget_table, lines, plan_table
from router.fleet.domain.capacity import Asked, DoesNotFit, plan_capacity
from router.fleet.domain.speculation import Speculation
from tests.unit.router.fleet.domain.five_models import model
from tests.unit.router.fleet.domain.test_capacity import asked, planned


def shown(table: Table) -> str:
    console = Console(file=StringIO(), width=120)
    console.print(table)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def priced(price: float, *, measured_start_s: float | None = None) -> Asked:
    one = asked("Qwen2.5-7B")
    return replace(one, tariff=replace(one.tariff, price_per_hour=price, measured_start_s=measured_start_s))


def test_the_budget_says_what_is_exact_and_what_an_estimate() -> None:
    rows = {
        line.split("  ")[0].strip(): line for line in shown(budget_table(planned(asked("Qwen2.5-7B")))).splitlines()
    }
    assert "14.19" in rows["weights"]
    assert "estimate" not in rows["weights"]
    assert all("estimate" in rows[name] for name in ("activations", "CUDA graphs", "runtime"))
    assert "487248 tokens of 56 KiB" in rows["KV pool"]
    assert "weights of the draft model" not in rows


def test_a_draft_model_has_a_line_of_its_own() -> None:
    one = asked("Qwen3-8B")
    speculation = Speculation(tokens=2, acceptance=0.5, draft=model("SmolLM2-135M"))
    drafted = replace(one, setup=replace(one.setup, speculation=speculation))
    assert "weights of the draft model" in shown(budget_table(planned(drafted)))


def test_a_budget_that_does_not_fit_has_no_pool() -> None:
    assert "none" in shown(budget_table(plan_capacity(asked("Qwen2.5-32B"))))


def test_the_plan_stands_beside_its_limits_and_the_floor() -> None:
    told = shown(plan_table(planned(replace(priced(3.0), reserve=1))))
    assert "replicas                         4  100 trainees each, limited by memory, 1 of them in reserve" in told
    assert "bandwidth floor 16.4 ms, limit 1000 ms" in told
    assert "20.00  0.067 a trainee, 6.7 replica hours, 30% before the bell" in told
    assert "by measured start" not in told


def test_one_trainee_is_told_as_one() -> None:
    assert "1 trainee each, limited by the class" in shown(plan_table(planned(replace(priced(0.0), trainees=1))))


def test_a_measured_start_gives_a_second_price() -> None:
    assert "11.25  0.037 a trainee, 3.8 replica hours" in shown(plan_table(planned(priced(3.0, measured_start_s=150))))


def test_without_a_price_hours_are_told() -> None:
    told = shown(plan_table(planned(priced(0.0))))
    assert "5.0 replica hours, 30% before the bell" in told
    assert "a trainee" not in told


def test_cautions_come_before_the_command() -> None:
    *said, empty, command = lines(planned(asked("Qwen2.5-7B")))
    assert all(line.startswith("- ") for line in said)
    assert (empty, command[:16]) == ("", "vllm serve MODEL")
    assert all(line.startswith("- ") for line in lines(plan_capacity(asked("Qwen2.5-32B"))))


def test_json_holds_the_figures_of_the_tables() -> None:
    told = json.loads(json.dumps(as_json(planned(priced(3.0, measured_start_s=150)))))
    assert (told["fits"], told["replicas"], told["window_sessions"]) == (True, 3, 118)
    assert told["memory"]["weight_bytes"] == 2 * 7_615_616_512
    assert told["memory"]["kv_pool_tokens"] == 487_248
    assert told["flags"]["max-num-seqs"] == 118
    assert told["measured_cost"]["price"] == 11.25
    assert as_json(planned(priced(3.0)))["measured_cost"] is None


def test_json_of_what_does_not_fit_says_what_is_missing() -> None:
    found = plan_capacity(asked("Qwen2.5-32B"))
    assert isinstance(found, DoesNotFit)
    told = as_json(found)
    assert (told["fits"], told["missing_bytes"]) == (False, found.missing_bytes)
    assert "replicas" not in told
