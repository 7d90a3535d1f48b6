"""A campaign makes missing runs, records each once, and exits with the most severe answer. Runs are imitated."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rocketdiff.campaign import command, simulation
from rocketdiff.campaign.command import exit_code
from rocketdiff.campaign.file_format import read
from rocketdiff.cluster.processes.backend import Processes
from rocketdiff.core.errors import ExitCode, HarnessError
from rocketdiff.core.resources import import_path
from rocketdiff.lab.fuzz.rounds import Report
from rocketdiff.record.commands import judge, status
from rocketdiff.record.storage.files import RecordPlace
from rocketdiff.record.work import Here
from tests.analysis.consuming.group_story import candidate
from tests.analysis.synthetic import Story, write_run
from tests.campaign.imitation import Imitation
from tests.matrix.stories import write
from tests.record.conftest import CHECKS, GUARDS, SCENARIO
from tests.record.groups import write_group_run

HEAD = "format: 1\nbaseline: java:5.3.3\nscenarios: [round-robin/calm]\nshipped_ledgers: false\n"
ONE = f"{HEAD}subjects: [java:4.7.1]\n"
TWO = f"{HEAD}subjects: [java:4.7.1, java:4.9.8]\n"


def sealed(folder: Path) -> None:
    run = write_run(folder.parent, [Story(checks=CHECKS, sends=4)], run=folder.name)
    run.change(1, lambda entry: replace(entry, scenario_text=SCENARIO, guards=GUARDS))


def imitated() -> Imitation:
    return Imitation(fill=sealed)


@pytest.fixture
def runs() -> Iterator[Imitation]:
    imitation = imitated()
    with imitation.in_place():
        yield imitation


@pytest.fixture
def fuzzed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The simulated seeds, without JVMs; seed 13 differs."""
    seeds: list[int] = []

    def fuzz(releases: tuple[str, ...], _effort: object, seed: int, _save: Path, *, as_json: bool) -> Report:
        seeds.append(seed)
        code = ExitCode.DIVERGES if seed == 13 else ExitCode.CONFORMS
        return Report(code, f"{len(releases)} releases")

    monkeypatch.setattr(simulation, "run_rounds", fuzz)
    return seeds


def make(folder: Path, text: str = TWO, *, printed: list[str] | None = None, at_most: int | None = None) -> ExitCode:
    folder.mkdir(exist_ok=True)
    campaign = read(write(folder / "c.yaml", text))
    print_line = (printed if printed is not None else list[str]()).append
    return command.make(campaign, folder / "out", str(folder / "record"), print_line=print_line, at_most=at_most)


def recorded(folder: Path) -> int:
    return status(RecordPlace.named(str(folder / "record"))).runs if (folder / "record").exists() else 0


def test_each_run_is_recorded_once_and_the_end_names_next_commands(runs: Imitation, tmp_path: Path) -> None:
    """Each run is recorded once, and the last lines name the next commands."""
    output: list[str] = []
    assert make(tmp_path, printed=output) is ExitCode.DIVERGES
    assert recorded(tmp_path) == 2
    assert output[0] == "run 1 of 2: java:4.7.1, round-robin/calm, seed 1; about 14 s left"
    assert output[-3].startswith(
        f"what is new: rocketdiff record judge --record {tmp_path / 'record'} && rocketdiff record regressions"
    )
    assert output[-3].endswith("--since 20261123-000000 --fail-on new")
    assert output[-2].endswith(f" --only {tmp_path / 'out'}")
    assert output[-1].startswith("CAMPAIGN planned=2 made=2 conform=0 diverge=2 ")
    again: list[str] = []
    assert make(tmp_path, printed=again) is ExitCode.DIVERGES
    assert len(runs.made) == recorded(tmp_path) == 2
    assert not [line for line in again if "added to the record" in line]


def test_settings_are_runs_of_their_own(runs: Imitation, tmp_path: Path) -> None:
    """An added setting costs only its own runs."""
    make(tmp_path)
    output: list[str] = []
    make(tmp_path, f"{TWO}settings: [{{}}, {{wire: true}}]\n", printed=output)
    assert output[0].startswith("2 of 4 runs are taken over")
    assert output[1].startswith("run 3 of 4: java:4.7.1, round-robin/calm, seed 1, servers 5.3.3, wire; ")
    assert len(runs.made) == recorded(tmp_path) == 4


def test_a_missing_run_is_reported_and_open(runs: Imitation, tmp_path: Path) -> None:
    """A failed run and one not made yet are reported as missing."""
    runs.fails["java:4.7.1"] = HarnessError("brokers", seen="dead ones"), True
    output: list[str] = []
    assert make(tmp_path, printed=output, at_most=1) is ExitCode.NOTHING_DECISIVE
    assert "java:4.7.1, round-robin/calm, seed 1: missing: the run failed: expected brokers; saw dead ones" in output
    assert "java:4.9.8, round-robin/calm, seed 1: missing: not run yet" in output


def test_runs_about_consumers_are_recorded_and_judged(tmp_path: Path) -> None:
    """Runs of a suite about consumers are added to the record like others, and judged there."""

    def fill(folder: Path) -> None:
        write_group_run(folder.parent, candidate(lambda group: group.drop(17)), run=folder.name)

    with Imitation(fill=fill).in_place():
        make(tmp_path, f"{HEAD}subjects: [{{subject: java:4.9.8, suites: [consumers]}}]\n")
    place = RecordPlace.named(str(tmp_path / "record"))
    assert judge(place, Here(), print_line=lambda _: None) == (1, 1)
    assert dict(status(place).verdicts) == {"diverges": 1}


def test_a_subject_without_consumers_leaves_them_out_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that is no consumer has no run of a suite about consumers; the campaign says why, and goes on."""
    monkeypatch.setenv("PYTHONPATH", import_path())
    monkeypatch.setattr(Processes, "fetch", lambda backend, _progress: backend)
    own = Path(__file__).parents[1] / "subjects" / "own.py"
    output: list[str] = []
    text = f"format: 1\nbaseline: python:5.3.3\nsubjects: ['exec:{sys.executable} {own}']\nsuites: [consumers]\n"
    assert make(tmp_path, text, printed=output) is ExitCode.NOTHING_DECISIVE
    assert any("not measured: " in line and "acme:1.0 is no consumer" in line for line in output)
    assert recorded(tmp_path) == 0


def test_a_seed_is_simulated_once_and_what_differs_decides(runs: Imitation, fuzzed: list[int], tmp_path: Path) -> None:
    """A seed is simulated once, unless its file is damaged; differences are counted."""
    text = f"{TWO}seeds: [12, 13]\nsimulation: {{releases: [4.7.1, 5.3.3], sends: 10}}\n"
    output: list[str] = []
    make(tmp_path, text, printed=output, at_most=1)
    assert output[:2] == ["simulation, seed 12: 2 releases", "simulation, seed 13: 2 releases"]
    assert " simulated=2 differ=1 " in output[-1]
    make(tmp_path, text, at_most=1)
    assert fuzzed == [12, 13]
    (tmp_path / "out" / "simulation" / "seed-12.json").write_text("{")
    make(tmp_path, text, at_most=1)
    assert fuzzed == [12, 13, 12]


def test_kill_9_loses_no_run_and_doubles_none(tmp_path: Path) -> None:
    """A campaign killed at any moment and called again records its run once."""
    program = [sys.executable, "-m", "tests.campaign.killed", str(tmp_path)]
    ran = subprocess.run(program, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    assert [json.loads(line) for line in ran.stdout.splitlines()] == [
        [ExitCode.DIVERGES, 1, 1, 1],  # killed before the run
        [ExitCode.DIVERGES, 1, 1, 1],  # killed before it is declared finished
        [ExitCode.DIVERGES, 0, 1, 1],  # killed before it is added
        [ExitCode.DIVERGES, 0, 1, 1],  # killed after it is added
        [ExitCode.DIVERGES, 0, 1, 1],  # not killed
    ]


@pytest.mark.parametrize(
    ("codes", "is_whole", "expected"),
    [
        ([], False, 5),
        ([0, 0], True, 0),
        ([0, 0], False, 2),
        ([0, 3], True, 3),
        ([0, 2, 3], True, 2),
        ([5, 5], True, 5),
        ([0, 5], True, 2),
        ([0, 2, 1], False, 1),
    ],
)
def test_the_gravest_answer_is_the_exit_code(codes: list[int], is_whole: bool, expected: int) -> None:
    """A difference decides before an open answer, that before a stale entry; a missing run is no pass."""
    assert exit_code([ExitCode(code) for code in codes], is_whole=is_whole) == expected
