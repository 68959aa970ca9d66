"""Every use case of the product, made once and handed to the API."""

from collections.abc import Mapping
from dataclasses import dataclass

from sessions.ports import Clock, Records, Tiers, TurnLock, Tutor
from sessions.prompt_writer import PromptWriter
from sessions.use_cases.change_scene import ChangeScene
from sessions.use_cases.check_scenario import CheckScenario
from sessions.use_cases.close_session import CloseSession
from sessions.use_cases.create_scenario import CreateScenario
from sessions.use_cases.explain_context import ExplainContext
from sessions.use_cases.read_scenario import ListScenarios, ReadScenario
from sessions.use_cases.read_session import ListSessions, ReadSession
from sessions.use_cases.read_turn import ListTurns, ReadTurn
from sessions.use_cases.revise_scenario import ReviseScenario
from sessions.use_cases.start_session import StartSession
from sessions.use_cases.take_turn import TakeTurn


@dataclass(frozen=True, slots=True)
class UseCases:
    create_scenario: CreateScenario
    revise_scenario: ReviseScenario
    read_scenario: ReadScenario
    list_scenarios: ListScenarios
    start_session: StartSession
    read_session: ReadSession
    list_sessions: ListSessions
    change_scene: ChangeScene
    close_session: CloseSession
    take_turn: TakeTurn
    read_turn: ReadTurn
    list_turns: ListTurns
    explain_context: ExplainContext


def use_cases(
    *,
    records: Records,
    lock: TurnLock,
    tutor: Tutor,
    writers: Mapping[str, PromptWriter],
    tiers: Tiers,
    clock: Clock,
) -> UseCases:
    """`writers` are those of every served model, the default one first."""
    check, writer = CheckScenario(writers=writers, tiers=tiers), next(iter(writers.values()))
    return UseCases(
        create_scenario=CreateScenario(records=records, check=check, clock=clock),
        revise_scenario=ReviseScenario(records=records, check=check, clock=clock),
        read_scenario=ReadScenario(records=records),
        list_scenarios=ListScenarios(records=records),
        start_session=StartSession(records=records, clock=clock),
        read_session=ReadSession(records=records),
        list_sessions=ListSessions(records=records),
        change_scene=ChangeScene(records=records, lock=lock, clock=clock),
        close_session=CloseSession(records=records, lock=lock, tutor=tutor, clock=clock),
        take_turn=TakeTurn(records=records, lock=lock, tutor=tutor, writer=writer, clock=clock),
        read_turn=ReadTurn(records=records),
        list_turns=ListTurns(records=records),
        explain_context=ExplainContext(records=records, writer=writer),
    )
