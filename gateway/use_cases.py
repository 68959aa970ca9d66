"""Every use case of the product, made once and handed to the API."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sessions.drill_ports import Drills, Seats
from sessions.knowledge_ports import Catalogue
from sessions.moderation_ports import Moderation
from sessions.ports import Clock, KnowledgeSearch, Records, Tiers, TurnLock, Tutor, WorkingSets
from sessions.prompt_writer import PromptWriter
from sessions.spool_ports import TurnSpool
from sessions.use_cases.ask_for_note import NoteAsking
from sessions.use_cases.change_drill import ChangeDrill, EndDrill
from sessions.use_cases.change_scene import ChangeScene
from sessions.use_cases.check_scenario import CheckScenario
from sessions.use_cases.close_session import CloseSession
from sessions.use_cases.compact_session import CompactSession
from sessions.use_cases.create_drill import CreateDrill
from sessions.use_cases.create_scenario import CreateScenario
from sessions.use_cases.explain_context import ExplainContext
from sessions.use_cases.note_book import CompactionOutcome, NoteBook
from sessions.use_cases.prepare_turn import TurnPreparation
from sessions.use_cases.read_drill import ListDrills, ReadDrill
from sessions.use_cases.read_outline import ReadOutline
from sessions.use_cases.read_scenario import ListScenarios, ReadScenario
from sessions.use_cases.read_session import ListSessions, ReadSession
from sessions.use_cases.read_turn import ListTurns, ReadTurn
from sessions.use_cases.revise_scenario import ReviseScenario
from sessions.use_cases.served_models import ServedModels
from sessions.use_cases.session_histories import SessionHistories
from sessions.use_cases.start_session import StartSession
from sessions.use_cases.take_turn import TakeTurn
from sessions.use_cases.turn_book import TurnBook


@dataclass(frozen=True, slots=True)
class UseCases:
    create_drill: CreateDrill
    change_drill: ChangeDrill
    end_drill: EndDrill
    read_drill: ReadDrill
    list_drills: ListDrills
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
    compact_session: CompactSession
    read_turn: ReadTurn
    list_turns: ListTurns
    explain_context: ExplainContext
    read_outline: ReadOutline


def _unheard(_: CompactionOutcome) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Outside:
    """All that the use cases stand on; `writers` are those of every served model, the default one first."""

    records: Records
    lock: TurnLock
    tutor: Tutor
    clock: Clock
    working_sets: WorkingSets
    tiers: Tiers
    writers: Mapping[str, PromptWriter]
    catalogue: Catalogue
    drills: Drills
    seats: Seats
    moderation: Moderation
    knowledge: KnowledgeSearch | None = None
    """None: no message has any background."""
    spool: TurnSpool | None = None
    """None: a turn that cannot be written has failed."""
    note_timeout_s: float = 30.0
    compacted: Callable[[CompactionOutcome], None] = _unheard
    """Hears what became of each attempt to make a note."""


def use_cases(outside: Outside) -> UseCases:
    records, lock, clock = outside.records, outside.lock, outside.clock
    check = CheckScenario(
        writers=outside.writers, tiers=outside.tiers, catalogue=outside.catalogue, moderation=outside.moderation
    )
    histories = SessionHistories(records=records, working_sets=outside.working_sets)
    models = ServedModels(tiers=outside.tiers, writers=outside.writers)
    notes = NoteBook(records=records, clock=clock, told=outside.compacted)
    preparation = TurnPreparation(
        records=records,
        histories=histories,
        models=models,
        notes=notes,
        knowledge=outside.knowledge,
        moderation=outside.moderation,
    )
    return UseCases(
        create_drill=CreateDrill(records=records, drills=outside.drills, clock=clock),
        change_drill=ChangeDrill(records=records, drills=outside.drills),
        end_drill=EndDrill(drills=outside.drills),
        read_drill=ReadDrill(drills=outside.drills),
        list_drills=ListDrills(drills=outside.drills),
        create_scenario=CreateScenario(records=records, check=check, clock=clock),
        revise_scenario=ReviseScenario(records=records, check=check, clock=clock),
        read_scenario=ReadScenario(records=records),
        list_scenarios=ListScenarios(records=records),
        start_session=StartSession(records=records, drills=outside.drills, seats=outside.seats, clock=clock),
        read_session=ReadSession(records=records),
        list_sessions=ListSessions(records=records),
        change_scene=ChangeScene(records=records, lock=lock, working_sets=outside.working_sets, clock=clock),
        close_session=CloseSession(
            records=records,
            lock=lock,
            tutor=outside.tutor,
            working_sets=outside.working_sets,
            seats=outside.seats,
            clock=clock,
        ),
        take_turn=TakeTurn(
            preparation=preparation,
            book=TurnBook(records=records, histories=histories, spool=outside.spool),
            lock=lock,
            tutor=outside.tutor,
            moderation=outside.moderation,
            clock=clock,
        ),
        compact_session=CompactSession(
            histories=histories,
            models=models,
            notes=notes,
            asking=NoteAsking(tutor=outside.tutor, timeout_s=outside.note_timeout_s),
            moderation=outside.moderation,
        ),
        read_turn=ReadTurn(records=records),
        list_turns=ListTurns(records=records),
        explain_context=ExplainContext(histories=histories, models=models),
        read_outline=ReadOutline(records=records),
    )
