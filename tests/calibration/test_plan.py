"""Control cases are drawn from a seed, of all releases, and are valid scenarios."""

from collections import Counter

import pytest

from rocketdiff.calibration.group_shapes import group_scenario
from rocketdiff.calibration.plan import CASES_A_RUN, control_case, gate_runs, subject_of
from rocketdiff.calibration.shapes import control_scenario
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.releases.catalogue import client_releases
from rocketdiff.report.words.gate_rates import FEW
from rocketdiff.subjects.registry import offers

SENDS = CASES_A_RUN[ClientRole.PRODUCER]


def test_every_shape_is_a_sound_scenario_for_many_seeds() -> None:
    """Every shape of both roles gives a valid scenario for sixty seeds."""
    for draw, role in ((control_scenario, ClientRole.PRODUCER), (group_scenario, ClientRole.CONSUMER)):
        for seed in range(60):
            scenarios = [draw(shape, seed) for shape in range(CASES_A_RUN[role])]
            assert len({scenario.name for scenario in scenarios}) == CASES_A_RUN[role]
            assert {scenario.role for scenario in scenarios} == {role}


@pytest.mark.parametrize("role", ClientRole)
def test_every_client_can_do_its_cases(role: ClientRole) -> None:
    """A client can make all calls of its cases, or join all their groups; every third case of each client is tried."""
    for number in range(1, 2 * len(client_releases()) * CASES_A_RUN[role] + 1, 3):
        one = control_case(7, number, role)
        assert all(offers(one.subject, demand) for demand in one.case.scenario.demands())


def test_a_case_is_known_by_its_number() -> None:
    """An alarm's case can be run again by seed and number."""
    assert control_case(7, 34) == control_case(7, 34)
    assert control_case(7, 34).case.scenario.text != control_case(8, 34).case.scenario.text
    assert control_case(7, 34).run == 3


def test_a_gate_run_is_one_client_against_itself() -> None:
    """A gate run is one client against itself in different scenarios."""
    (first, members), *_ = gate_runs(7, 25)
    assert first == 1
    assert {member.subject for member in members} == {subject_of(1)}
    assert all(member.case.id.baseline == member.case.id.candidate for member in members)
    assert [len(cases) for _, cases in gate_runs(7, 33)] == [16, 16, 1]


def test_every_release_gets_its_turn_in_both_clients() -> None:
    """Every release gets its turn in both clients, nine in the first 300 cases."""
    releases = len(client_releases())
    subjects = [subject_of(run) for run in range(1, 2 * releases + 1)]
    assert len(set(subjects)) == 2 * releases
    assert {subject.client for subject in subjects[:2]} == {"java", "python"}
    assert len({subject.release for subject in subjects[: 300 // SENDS]}) == 9


def test_every_sending_mode_has_cases_enough() -> None:
    """In 300 cases every sending mode has more than a report calls few."""
    modes = Counter(control_case(7, number).case.scenario.workload.mode for number in range(1, 301))
    assert set(modes) == set(SendMode)
    assert min(modes.values()) >= FEW + 5, "some come out invalid"


def test_a_client_without_batches_sends_single_messages() -> None:
    """4.0.0 has no batch call: its gate run sends single messages under other names."""
    runs = [run for run in range(1, 2 * len(client_releases())) if subject_of(run).release == "4.0.0-incubating"]
    cases = [control_case(7, (runs[0] - 1) * SENDS + number) for number in range(1, SENDS + 1)]
    names = {one.case.scenario.name for one in cases}
    assert len(names) == SENDS
    assert "control/plain-under-pauses" in names
    assert "control/batch-under-pauses" not in names
