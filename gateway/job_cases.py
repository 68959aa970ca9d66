"""What callers may do with jobs, made once and handed to the API."""

from dataclasses import dataclass

from sessions.job_ports import JobBook
from sessions.knowledge_ports import Catalogue, Shelf
from sessions.ports import Clock
from sessions.use_cases.ask_questions import AskingRules, AskQuestions
from sessions.use_cases.cancel_job import CancelJob
from sessions.use_cases.read_job import ListJobs, ReadJob, ReadResults


@dataclass(frozen=True, slots=True)
class JobCases:
    ask: AskQuestions
    read: ReadJob
    list: ListJobs
    results: ReadResults
    cancel: CancelJob


def job_cases(*, book: JobBook, catalogue: Catalogue, shelf: Shelf, rules: AskingRules, clock: Clock) -> JobCases:
    return JobCases(
        ask=AskQuestions(book=book, catalogue=catalogue, shelf=shelf, rules=rules, clock=clock),
        read=ReadJob(book=book),
        list=ListJobs(book=book),
        results=ReadResults(book=book),
        cancel=CancelJob(book=book, clock=clock),
    )
