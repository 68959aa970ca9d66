"""Each source file that does something has its test file, found by its name."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("router", "sessions", "gateway", "loadtests")
TESTS = {path.name for path in (ROOT / "tests").rglob("test_*.py")}

# What is proven elsewhere, each with where.
ELSEWHERE = {
    "gateway/job_cases.py": "tests/integration/api/test_jobs.py",
    "gateway/cli/answers_wire.py": "tests/integration/cli/test_answers.py",
    "gateway/cli/drill_add.py": "tests/integration/cli/test_drill_calendar.py",
    "gateway/cli/drill_call.py": "tests/integration/cli/test_drill_calendar.py",
    "gateway/cli/drill_cancel.py": "tests/integration/cli/test_drill_calendar.py",
    "gateway/cli/drill_list.py": "tests/integration/cli/test_drill_calendar.py",
    "gateway/cli/drill_move.py": "tests/integration/cli/test_drill_calendar.py",
    "gateway/cli/drill_show.py": "tests/integration/cli/test_drill_calendar.py",
    "gateway/cli/drill_table.py": "tests/integration/cli/test_drill_calendar.py",
    "gateway/api/drill_views.py": "tests/integration/api/test_drills.py",
    "gateway/api/drill_bodies.py": "tests/integration/api/test_drill_series.py",
    "gateway/drill_cases.py": "tests/integration/api/test_drill_import.py",
    "gateway/wiring/drills.py": "tests/integration/wiring/test_drills.py",
    "sessions/adapters/ical_child.py": "tests/contract/sessions/test_ical_process.py",
    "gateway/api/fleet_plan_views.py": "tests/integration/api/test_fleet_plan.py",
    "gateway/api/limit_views.py": "tests/integration/api/test_limits.py",
    "gateway/api/moderation_bodies.py": "tests/integration/api/test_moderation.py",
    "gateway/api/moderation_views.py": "tests/integration/api/test_moderation.py",
    "gateway/api/phrase_list_body.py": "tests/integration/api/test_moderation_lists.py",
    "gateway/moderation_cases.py": "tests/integration/api/test_moderation.py",
    "gateway/api/outline_views.py": "tests/integration/api/test_outline.py",
    "gateway/api/review_bodies.py": "tests/integration/api/test_reviews.py",
    "gateway/api/review_views.py": "tests/integration/api/test_reviews.py",
    "gateway/cli/review_tables.py": "tests/integration/cli/test_reviews.py",
    "gateway/cli/fleet_call.py": "tests/integration/cli/test_fleet.py",
    "gateway/cli/limits_wire.py": "tests/integration/cli/test_limits.py",
    "gateway/cli/list_import.py": "tests/integration/cli/test_moderation.py",
    "gateway/cli/moderation_call.py": "tests/integration/cli/test_moderation.py",
    "gateway/cli/moderation_client.py": "tests/integration/cli/test_moderation.py",
    "gateway/cli/moderation_tables.py": "tests/integration/cli/test_moderation.py",
    "gateway/cli/phrase_lists.py": "tests/integration/cli/test_moderation.py",
    "gateway/cli/answers_client.py": "tests/integration/cli/test_answers.py",
    "gateway/adapters/lua_script.py": "tests/contract/gateway/test_limit_scripts.py",
    "sessions/adapters/lua_script.py": "tests/contract/sessions/test_redis_turn_lock.py",
    "gateway/adapters/memory_tickets.py": "tests/contract/gateway/test_redis_tickets.py",
    "gateway/api/knowledge_views.py": "tests/integration/api/test_knowledge.py",
    "gateway/api/upload.py": "tests/integration/api/test_knowledge.py",
    "gateway/cli/knowledge_client.py": "tests/integration/cli/test_knowledge.py",
    "gateway/knowledge_cases.py": "tests/integration/api/test_knowledge.py",
    "gateway/adapters/memory_journals.py": "tests/contract/gateway/test_journals.py",
    "gateway/adapters/redis_journals.py": "tests/contract/gateway/test_journals.py",
    "gateway/adapters/redis_mail.py": "tests/contract/gateway/test_mail.py",
    "gateway/domain/moderation/likeness_weights.py": "tests/unit/gateway/domain/moderation/test_likeness.py",
    "gateway/ports.py": "tests/contract/gateway/test_postgres_accounts.py",
    "gateway/wiring/fleet_control.py": "tests/integration/cli/test_fleet_run.py",
    "router/fleet/adapters/quiet_alarm.py": "tests/contract/router/fleet/test_webhook_alarm.py",
    "router/fleet/adapters/fence.py": "tests/contract/router/fleet/test_postgres_ledger.py",
    "router/fleet/adapters/fleet_database.py": "tests/contract/router/fleet/test_postgres_ledger.py",
    "gateway/wiring/authoring.py": "tests/integration/test_wiring.py",
    "gateway/wiring/clock.py": "tests/integration/test_wiring.py",
    "gateway/wiring/postgres.py": "tests/integration/test_wiring.py",
    "gateway/wiring/redis.py": "tests/integration/wiring/test_redis.py",
    "gateway/adapters/redis_reach.py": "tests/faults/test_redis_reach.py",
    "gateway/store_settings.py": "tests/unit/gateway/test_settings.py",
    "gateway/use_cases.py": "tests/unit/sessions/use_cases/test_take_turn.py",
    "loadtests/simulator/answer.py": "tests/integration/loadtests/simulator/test_routes_openai.py",
    "loadtests/simulator/door.py": "tests/integration/loadtests/simulator/test_routes_state.py",
    "loadtests/simulator/reading.py": "tests/integration/loadtests/simulator/test_routes_openai.py",
    "loadtests/simulator/serving.py": "tests/integration/loadtests/simulator/test_fleet.py",
    "loadtests/simulator/whole_body.py": "tests/integration/loadtests/simulator/test_breakage.py",
    "loadtests/users/casting_desk.py": "tests/integration/loadtests/test_locustfile.py",
    "loadtests/users/director.py": "tests/integration/loadtests/test_locustfile.py",
    "loadtests/users/message.py": "tests/integration/loadtests/test_locustfile.py",
    "loadtests/users/options.py": "tests/integration/loadtests/test_locustfile.py",
    "loadtests/users/players.py": "tests/integration/loadtests/test_locustfile.py",
    "loadtests/users/stage.py": "tests/integration/loadtests/test_locustfile.py",
    "gateway/adapters/audit_facts.py": "tests/contract/gateway/test_postgres_phrase_lists.py",
    "gateway/adapters/memory_moderation.py": "tests/contract/gateway/test_postgres_phrase_lists.py",
    "gateway/adapters/moderation_rows.py": "tests/contract/gateway/test_postgres_phrase_lists.py",
    "gateway/moderation_ports.py": "tests/contract/gateway/test_postgres_phrase_lists.py",
    "gateway/adapters/memory_limit_rows.py": "tests/contract/gateway/test_postgres_limits.py",
    "sessions/adapters/found_session.py": "tests/contract/sessions/test_turn_questions.py",
    "sessions/adapters/postgres/question.py": "tests/contract/sessions/test_turn_questions.py",
    "sessions/adapters/memory_drills.py": "tests/contract/sessions/test_drills.py",
    "sessions/adapters/memory_class_calendar.py": "tests/contract/sessions/test_class_calendar.py",
    "sessions/adapters/memory_drill_book.py": "tests/contract/sessions/test_drill_book.py",
    "sessions/adapters/postgres/drill_rows.py": "tests/contract/sessions/test_drills.py",
    "sessions/adapters/away_records.py": "tests/unit/sessions/adapters/test_spooled_records.py",
    "sessions/adapters/local_turn_spool.py": "tests/contract/sessions/test_turn_spool.py",
    "sessions/adapters/overlaid_records.py": "tests/unit/sessions/adapters/test_spooled_records.py",
    "sessions/adapters/redis_turn_spool.py": "tests/contract/sessions/test_turn_spool.py",
    "sessions/adapters/remembered_scenarios.py": "tests/unit/sessions/adapters/test_spooled_records.py",
    "sessions/adapters/second_turn_spool.py": "tests/contract/sessions/test_turn_spool.py",
    "sessions/adapters/stored_spooled.py": "tests/unit/sessions/adapters/test_spool_file.py",
    "sessions/adapters/postgres/moderation_tables.py": "tests/contract/sessions/test_tables.py",
    "sessions/adapters/postgres/reach.py": "tests/faults/test_postgres_reach.py",
    "sessions/adapters/memory_reviews.py": "tests/contract/sessions/test_reviews.py",
    "sessions/adapters/memory_jobs.py": "tests/contract/sessions/test_job_queue.py",
    "sessions/adapters/postgres/job_rows.py": "tests/contract/sessions/test_job_book.py",
    "sessions/adapters/memory_tenant_tiers.py": "tests/contract/sessions/test_tenant_tiers.py",
    "router/fleet/adapters/engine_chat.py": "tests/contract/router/fleet/test_http_warmth.py",
    "router/fleet/adapters/warm_up.py": "tests/contract/router/fleet/test_http_warmth.py",
    "router/fleet/adapters/weights_download.py": "tests/contract/router/fleet/test_weights_cache.py",
    "router/fleet/adapters/weights_folder.py": "tests/contract/router/fleet/test_weights_cache.py",
    "router/fleet/adapters/weights_listing.py": "tests/contract/router/fleet/test_weights_cache.py",
    "router/fleet/adapters/memory_canaries.py": "tests/contract/router/fleet/test_postgres_canaries.py",
    "router/adapters/memory_pins.py": "tests/contract/router/test_pins.py",
    "router/adapters/redis_pins.py": "tests/contract/router/test_pins.py",
    "router/adapters/vllm_probe.py": "tests/contract/router/test_probe.py",
    "router/fleet/adapters/kubernetes_deployment.py": "tests/contract/router/fleet/test_kubernetes_host.py",
    "router/fleet/adapters/always_leads.py": "tests/integration/wiring/test_fleet_simulation.py",
    "router/fleet/adapters/memory_ledger.py": "tests/contract/router/fleet/test_ledger.py",
    "router/fleet/adapters/memory_routers.py": "tests/unit/router/fleet/test_pool_keeper.py",
    "router/fleet/adapters/simulated/clock.py": "tests/unit/router/fleet/adapters/simulated/test_warmth.py",
    "loadtests/conduct/breaker.py": "tests/integration/loadtests/conduct/test_breaking.py",
    "router/ports.py": "tests/contract/router/test_engine.py",
    "router/tally.py": "tests/unit/router/test_service.py",
}


def does_something(source: Path) -> bool:
    """Whether any function has a body; ports and constants have nothing to test by themselves."""
    functions = (
        f for f in ast.walk(ast.parse(source.read_text())) if isinstance(f, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return any(not isinstance(statement, ast.Expr) for function in functions for statement in function.body)


def sources() -> list[str]:
    paths = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return sorted(str(path.relative_to(ROOT)) for path in paths if path.name != "__init__.py" and does_something(path))


@pytest.mark.parametrize("source", sources())
def test_a_source_file_has_its_test_file(source: str) -> None:
    twin = ELSEWHERE.get(source)
    assert (ROOT / twin).exists() if twin else f"test_{Path(source).name}" in TESTS


def test_no_exception_is_out_of_date() -> None:
    assert all((ROOT / source).exists() for source in ELSEWHERE)
