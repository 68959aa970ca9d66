"""Where the files of a run lie."""

from pathlib import Path

from loadtests.run_folder import RunFolder


def test_each_file_has_its_place(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    named = (folder.drill, folder.facts, folder.figures, folder.verdict, folder.report)
    series = (folder.events, folder.replicas, folder.processes)
    places = {*named, *series, folder.rows_of(0), folder.lag_of(0), folder.histograms_of(0)}
    assert len(places) == 11
    assert {place.parent for place in places} == {tmp_path}


def test_files_of_workers_are_found_in_their_order(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    for worker in (1, 0):
        folder.rows_of(worker).touch()
        folder.lag_of(worker).touch()
    assert folder.all_rows() == [folder.rows_of(0), folder.rows_of(1)]
    assert folder.all_lag() == [folder.lag_of(0), folder.lag_of(1)]
