"""
The plan of control cases: a pure function of a seed, so that each can be repeated by its number.

A gate run is sixteen cases of one client, one of each shape. The next gate run has another client and release.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from rocketdiff.calibration.shapes import SHAPES, STAND_IN, control_scenario
from rocketdiff.core.subject import REFERENCE, STANDARD, SubjectId
from rocketdiff.releases.catalogue import client_releases
from rocketdiff.scenario import Case, expand
from rocketdiff.subjects.registry import offers

CASES_A_RUN = len(SHAPES)

RELEASE_STRIDE = 7
"""Step in the list of releases between Java gate runs: a prime that does not divide its length, so every release is used."""


@dataclass(frozen=True, slots=True)
class ControlCase:
    """One case of the plan: its number and its gate run (both from 1), subject and scenario."""

    number: int
    run: int
    subject: SubjectId
    seed: int
    case: Case


def control_case(seed: int, number: int) -> ControlCase:
    """The case with this number. Each gate run has its own seed. A shape that the client cannot send is replaced."""
    run = (number - 1) // CASES_A_RUN + 1
    subject, own_seed = subject_of(run), seed + run
    scenario = control_scenario(number - 1, own_seed)
    if not all(offers(subject, demand) for demand in scenario.demands()):
        scenario = control_scenario(STAND_IN, own_seed)
    case = expand(scenario, subject, subject, own_seed)
    return ControlCase(number, run, subject, own_seed, case)


def subject_of(run: int) -> SubjectId:
    """Java and the reference alternate, with the next release every two gate runs."""
    releases = client_releases()
    release = releases[((run - 1) // 2 * RELEASE_STRIDE - 1) % len(releases)]
    return SubjectId(STANDARD if run % 2 else REFERENCE, release)


def gate_runs(seed: int, cases: int) -> Iterator[tuple[int, list[ControlCase]]]:
    """The first ``cases`` cases by gate run."""
    planned = (control_case(seed, number) for number in range(1, cases + 1))
    for run, members in groupby(planned, key=lambda case: case.run):
        yield run, list(members)
