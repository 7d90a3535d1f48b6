"""Counting outages by situation, if both arms met them."""

from dataclasses import replace

import pytest

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.sending.outages import MET, outage_counts
from rocketdiff.core.answers.evidence import SpellCount
from rocketdiff.core.arm import Arm
from rocketdiff.core.run_info import Guard
from rocketdiff.core.tables.fault import FaultRecord
from rocketdiff.core.tables.settings import ClientSettings
from tests.analysis.builders import ENTRY, SUBJECTS, S, fault

ON = ClientSettings(send_latency_fault_enable=True)
SECOND = fault(20 * S, 22 * S, node="broker-a", episode=2)


def case(*faults: FaultRecord, met: dict[Arm, tuple[int, ...]] | None = None, brokers: str = "ab") -> CaseFacts:
    """met: episodes that an arm met, by default the first."""
    each = dict.fromkeys(Arm, (1,)) if met is None else met
    tallies = {
        (MET, str(arm), "paused", str(episode)): (1, 0.0) for arm, all_met in each.items() for episode in all_met
    }
    entry = replace(ENTRY, brokers=tuple(f"broker-{name}" for name in brokers))
    return CaseFacts("r1", SUBJECTS, entry, tallies=tallies, faults=faults)


@pytest.mark.parametrize(
    ("facts", "counted"),
    [
        (case(fault(10 * S, 12 * S)), {"one of several brokers": 1}),
        (case(fault(10 * S, 12 * S), SECOND), {"one of several brokers": 1}),
        (case(fault(10 * S, 12 * S), SECOND, met=dict.fromkeys(Arm, (1, 2))), {"one of several brokers": 2}),
        (case(fault(10 * S, 21 * S), SECOND), {"every broker": 1}),
        (case(fault(10 * S, 21 * S), SECOND, brokers="abc"), {"several brokers, not all": 1}),
        (case(fault(10 * S, 12 * S), brokers="b"), {"the only broker": 1}),
        (case(fault(10 * S, 12 * S), met={Arm.BASELINE: (1,)}), {}),
        (case(), {}),
    ],
)
def test_outages_that_both_arms_met_are_counted_by_situation(facts: CaseFacts, counted: dict[str, int]) -> None:
    """Overlapping pauses are one outage; an outage that an arm never met does not count."""
    assert outage_counts([facts]) == tuple(SpellCount(f"fault latency off, {one}", n) for one, n in counted.items())


def test_situations_are_counted_apart_and_of_sound_cases_only() -> None:
    """Outages with fault latency on and off are counted separately; a broken guard leaves a case out."""
    off = case(fault(10 * S, 12 * S))
    on = replace(off, entry=replace(ENTRY, settings=ON))
    broken = replace(off, entry=replace(ENTRY, guards=(Guard("fault-on-time", False, "in time", "2.2 s late"),)))
    assert outage_counts([off, on, broken, off]) == (
        SpellCount("fault latency off, one of several brokers", 2),
        SpellCount("fault latency on, one of several brokers", 1),
    )
