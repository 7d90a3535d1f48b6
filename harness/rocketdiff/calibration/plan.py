"""
The plan of control cases: a pure function of a seed, so that each can be repeated by its number.

A gate run is one case of each shape of a role, all of one client. The next gate run has another client and release.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from rocketdiff.calibration.group_shapes import GROUP_SHAPES, group_scenario
from rocketdiff.calibration.shapes import SHAPES, STAND_IN, control_scenario
from rocketdiff.core.consuming.plan import ListenerKind, MessageModel
from rocketdiff.core.demand import GroupDemand
from rocketdiff.core.subject import REFERENCE, STANDARD, SubjectId
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.releases.catalogue import client_releases
from rocketdiff.scenario import Case, expand
from rocketdiff.subjects.registry import offers

CASES_A_RUN = {ClientRole.PRODUCER: len(SHAPES), ClientRole.CONSUMER: len(GROUP_SHAPES)}

JOINS = GroupDemand((ListenerKind.CONCURRENT.value, MessageModel.CLUSTERING.value))
"""What a release must be able to do for control cases about consumers."""

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


def control_case(seed: int, number: int, role: ClientRole = ClientRole.PRODUCER) -> ControlCase:
    """The case with this number. Each gate run has its own seed. A shape that the client cannot send is replaced."""
    run = (number - 1) // CASES_A_RUN[role] + 1
    subject, own_seed = subject_of(run, role), seed + run
    draw = control_scenario if role is ClientRole.PRODUCER else group_scenario
    scenario = draw(number - 1, own_seed)
    if role is ClientRole.PRODUCER and not all(offers(subject, demand) for demand in scenario.demands()):
        scenario = control_scenario(STAND_IN, own_seed)
    case = expand(scenario, subject, subject, own_seed)
    return ControlCase(number, run, subject, own_seed, case)


def subject_of(run: int, role: ClientRole = ClientRole.PRODUCER) -> SubjectId:
    """Java and the reference alternate, with the next release that has the role every two gate runs."""
    client = STANDARD if run % 2 else REFERENCE
    releases = [
        each for each in client_releases() if role is ClientRole.PRODUCER or offers(SubjectId(client, each), JOINS)
    ]
    return SubjectId(client, releases[((run - 1) // 2 * RELEASE_STRIDE - 1) % len(releases)])


def gate_runs(seed: int, cases: int, role: ClientRole = ClientRole.PRODUCER) -> Iterator[tuple[int, list[ControlCase]]]:
    """The first ``cases`` cases by gate run."""
    planned = (control_case(seed, number, role) for number in range(1, cases + 1))
    for run, members in groupby(planned, key=lambda case: case.run):
        yield run, list(members)
