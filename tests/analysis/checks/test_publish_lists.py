"""The first publish list of each arm must be complete and in order."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from rocketdiff.core.answers.evidence import Evidence
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.synthetic import Story, Told

NewRun = Callable[..., RunDirectory]
EvidenceOf = Callable[[RunDirectory], dict[tuple[str, str], Evidence]]

CALM = Story(name="calm", pauses=(), sends=40)


def reverse(told: Told) -> None:
    told.routes = [replace(route, queues=tuple(reversed(route.queues))) for route in told.routes]


def lists(evidence: Evidence) -> list[tuple[str, str, int]]:
    """Subject, signature and count."""
    found = [one for one in evidence.divergences if one.signature.endswith("queue.other-publish-list")]
    return [(one.subject, one.signature, one.count) for one in found]


def without_brokers(run: RunDirectory) -> RunDirectory:
    run.change(1, lambda entry: replace(entry, brokers=()))
    return RunDirectory.open(run.path)


@pytest.mark.parametrize("named", [True, False])
def test_another_order_is_a_difference(new_run: NewRun, evidence_of: EvidenceOf, named: bool) -> None:
    """A list in another order diverges, whether ``run.json`` names brokers or only the baseline shows them."""
    run = new_run([CALM], change=reverse)
    evidence = evidence_of(run if named else without_brokers(run))["calm", "queue-choice"]
    assert lists(evidence) == [("python:5.3.3", "queue.other-publish-list", 1)]
    example = next(one.example for one in evidence.divergences if one.signature == "queue.other-publish-list")
    assert example.expected == "turns taken along the list broker-a 0 1 2 3, broker-b 0 1 2 3"
    assert example.observed == "the client's first list is broker-b 3 2 1 0, broker-a 3 2 1 0"


def test_a_client_that_never_saw_a_broker_differs(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A list without one of the brokers diverges, although all choices are right by it."""
    run = new_run([replace(CALM, brokers=("broker-a",))])
    run.change(1, lambda entry: replace(entry, brokers=("broker-b", "broker-a")))
    evidence = evidence_of(RunDirectory.open(run.path))["calm", "queue-choice"]
    assert lists(evidence) == [
        ("python:5.3.3", "queue.other-publish-list", 1),
        ("java:5.3.3", "rules/queue.other-publish-list", 1),
    ]


def test_an_arm_without_a_route_is_not_asked(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A client that reports no list is not compared."""

    def forget(told: Told) -> None:
        told.routes = []

    assert lists(evidence_of(new_run([CALM], change=forget))["calm", "queue-choice"]) == []


def test_a_later_list_may_be_another(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A killed broker leaves the route, so only the first list is compared."""

    def shrink(told: Told) -> None:
        told.routes.append(replace(told.routes[0], route=2, queues=told.routes[0].queues[:4]))

    assert lists(evidence_of(new_run([CALM], change=shrink))["calm", "queue-choice"]) == []
