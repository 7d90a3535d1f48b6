"""
Which control cases there are: a pure function of a seed, so that any of them can be repeated by its number.

Sixteen cases of one client, one of each shape, make a gate run; the next gate run is of another client and another release.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from rocketdiff.calibration.shapes import SHAPES, STAND_IN, control_scenario
from rocketdiff.core.subject import SubjectId
from rocketdiff.releases.catalogue import client_releases
from rocketdiff.scenario import Case, expand
from rocketdiff.subjects.registry import offers

CASES_A_RUN = len(SHAPES)

RELEASE_STRIDE = 7
"""From one Java gate run to the next, in the list of releases: prime, and no divisor of its length, so all get their turn."""


@dataclass(frozen=True, slots=True)
class ControlCase:
    """One case of the plan: its number from 1, the gate run it belongs to (from 1), and what runs in it."""

    number: int
    run: int
    subject: SubjectId
    seed: int
    case: Case


def control_case(seed: int, number: int) -> ControlCase:
    """The case with this number; a gate run has a seed of its own. A client without the call of a shape has another shape's."""
    run = (number - 1) // CASES_A_RUN + 1
    subject, own_seed = subject_of(run), seed + run
    scenario = control_scenario(number - 1, own_seed)
    if not offers(subject, scenario.workload.call, scenario.workload.mode):
        scenario = control_scenario(STAND_IN, own_seed)
    case = expand(scenario, subject, subject, own_seed)
    return ControlCase(number, run, subject, own_seed, case)


def subject_of(run: int) -> SubjectId:
    """Java and the reference in turn; each two gate runs have the next release."""
    releases = client_releases()
    release = releases[((run - 1) // 2 * RELEASE_STRIDE - 1) % len(releases)]
    return SubjectId("java" if run % 2 else "python", release)


def gate_runs(seed: int, cases: int) -> Iterator[tuple[int, list[ControlCase]]]:
    """The first ``cases`` cases, gate run by gate run; the last one may be short."""
    planned = (control_case(seed, number) for number in range(1, cases + 1))
    for run, members in groupby(planned, key=lambda case: case.run):
        yield run, list(members)
