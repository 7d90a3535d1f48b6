"""The first publish list of each arm, manually built."""

from dataclasses import replace

import pytest

from rocketdiff.analysis.case_trace import CaseTrace
from rocketdiff.analysis.facts import DifferenceFact
from rocketdiff.analysis.sending.checks.by_rules.publish_lists import compare_publish_lists
from rocketdiff.analysis.sending.send_facts import SendFacts
from tests.analysis.builders import ENTRY
from tests.analysis.sending.checks.builders import ALL_QUEUES, PublishList, trace_of_lists


def differing(known: CaseTrace) -> list[tuple[str, str]]:
    """Arm and signature of wrong lists."""
    collector = SendFacts("run", 1, 77)
    compare_publish_lists(known, collector)
    facts = [fact.fact for fact in collector.facts()]
    assert all(
        isinstance(fact, DifferenceFact) and (fact.at_ns, fact.check, fact.send) == (77, "queue-choice", -1)
        for fact in facts
    )
    return [(fact.arm, fact.signature) for fact in facts if isinstance(fact, DifferenceFact)]


OTHER, RULES = "queue.other-publish-list", "rules/queue.other-publish-list"

BACKWARDS = ALL_QUEUES[::-1]

UNNAMED = replace(ENTRY, brokers=())


@pytest.mark.parametrize(
    ("baseline", "candidate", "named", "unnamed"),
    [
        ({1: ALL_QUEUES}, {1: ALL_QUEUES}, [], []),
        ({1: ALL_QUEUES}, {1: BACKWARDS}, [("candidate", OTHER)], [("candidate", OTHER)]),
        ({1: BACKWARDS}, {1: ALL_QUEUES}, [("baseline", RULES)], [("candidate", OTHER)]),
        ({1: BACKWARDS}, {1: BACKWARDS}, [("baseline", RULES), ("candidate", OTHER)], []),
        ({1: ALL_QUEUES}, {3: BACKWARDS, 2: ALL_QUEUES}, [], []),
        ({1: ALL_QUEUES}, {2: ALL_QUEUES[:7]}, [("candidate", OTHER)], [("candidate", OTHER)]),
        ({1: ALL_QUEUES}, {2: ()}, [("candidate", OTHER)], [("candidate", OTHER)]),
        ({1: ALL_QUEUES}, None, [], []),
        (None, {1: BACKWARDS}, [("candidate", OTHER)], []),
    ],
)
def test_first_lists_are_held_against_all_queues_or_the_baselines(
    baseline: dict[int, PublishList] | None,
    candidate: dict[int, PublishList] | None,
    named: list[tuple[str, str]],
    unnamed: list[tuple[str, str]],
) -> None:
    """First lists are compared with ``run.json``, or with the baseline's if it names no brokers."""
    assert differing(trace_of_lists(baseline, candidate)) == named
    assert differing(trace_of_lists(baseline, candidate, entry=UNNAMED)) == unnamed


def test_brokers_are_listed_by_their_name() -> None:
    """Lists are sorted by broker name, whatever the order in ``run.json``."""
    shuffled = replace(ENTRY, brokers=("broker-b", "broker-a"))
    assert differing(trace_of_lists({1: ALL_QUEUES}, {1: ALL_QUEUES}, entry=shuffled)) == []
