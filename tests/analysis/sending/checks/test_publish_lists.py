"""The first publish list of each arm, and later ones, manually built."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.case_trace import CaseTrace
from rocketdiff.analysis.facts import DifferenceFact
from rocketdiff.analysis.sending.checks.by_rules.publish_lists import (
    PublishLists,
    compare_publish_lists,
    require_explained_lists,
    require_moved_brokers,
)
from rocketdiff.analysis.sending.checks.context import CaseContext
from rocketdiff.analysis.sending.send_facts import SendFacts
from rocketdiff.analysis.sending.steps.rulebook import rulebook_for
from rocketdiff.core.tables.settings import ClientSettings
from tests.analysis.builders import ENTRY, S
from tests.analysis.sending.checks.builders import ALL_QUEUES, PublishList, trace_of_lists
from tests.analysis.trace_builders import QUEUES, SMALL, trace


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


def test_both_lists_are_in_the_example() -> None:
    """In their order, a range of queues as one."""
    collector = SendFacts("run", 1, 77)
    compare_publish_lists(trace_of_lists({1: ALL_QUEUES}, {1: BACKWARDS}), collector)
    (one,) = collector.differences()
    assert (one.expected, one.observed, one.phase) == (
        "turns taken along the list broker-a 0 1 2 3, broker-b 0 1 2 3",
        "the client's first list is broker-b 3 2 1 0, broker-a 3 2 1 0",
        "start",
    )


def test_a_list_may_be_empty() -> None:
    """A client without any queue to send to."""
    collector = SendFacts("run", 1, 77)
    compare_publish_lists(trace_of_lists({1: ALL_QUEUES}, {1: ()}), collector)
    (one,) = collector.differences()
    assert one.observed == "the client's first list is empty"


MOVED: dict[str, Any] = {"kind": "move", "heal_proven_ns": 13 * S}
ROUTES = [{"route": 1}, {"route": 2, "queues": QUEUES[:2]}]
POLLED = replace(SMALL, settings=ClientSettings(poll_name_server_interval_ms=4_000))


@pytest.mark.parametrize(
    ("faults", "sends", "found_at"),
    [
        ([MOVED], [(18 * S - 1, 2)], None),
        ([MOVED], [(18 * S, 2)], 18 * S),
        ([MOVED], [(18 * S, 1)], None),
        ([MOVED], [(18 * S, 9)], None),
        ([MOVED], [(40 * S, 2), (30 * S, 2), (20 * S, 1)], 30 * S),
        ([MOVED, {"inject_ns": 20 * S}], [(20 * S - 1, 2)], 20 * S - 1),
        ([MOVED, {"inject_ns": 20 * S}], [(20 * S, 2)], None),
        ([MOVED, {"inject_ns": 30 * S}, {"inject_ns": 20 * S}], [(20 * S, 2)], None),
        ([{"inject_ns": S}, MOVED], [(18 * S, 2)], 18 * S),
        ([{"kind": "pause", "heal_proven_ns": 13 * S}], [(18 * S, 2)], None),
        ([MOVED | {"heal_proven_ns": None}], [(18 * S, 2)], None),
        ([MOVED | {"node": "broker-a"}], [(18 * S, 2)], None),
    ],
)
def test_a_moved_broker_is_in_the_list_again(
    faults: list[dict[str, Any]], sends: list[tuple[int, int]], found_at: int | None
) -> None:
    """A moved broker is in every list from a polling interval and a second after its proven return until another fault."""
    rows = [{"send": n, "start_ns": start_ns, "route": route} for n, (start_ns, route) in enumerate(sends)]
    collector = SendFacts("run", 1, 77)
    require_moved_brokers(trace(POLLED, sends=rows, routes=ROUTES, faults=faults), collector)
    facts = [fact.fact for fact in collector.facts() if isinstance(fact.fact, DifferenceFact)]
    wanted = [] if found_at is None else [("baseline", RULES, found_at), ("candidate", OTHER, found_at)]
    assert [(fact.arm, fact.signature, fact.at_ns) for fact in facts] == wanted
    assert {(fact.observed, fact.phase) for fact in facts} <= {("the client's list is broker-a 0 1", "after")}


OF_A: dict[str, Any] = {"node": "broker-a"}
OF_NAMES: dict[str, Any] = {"node": "name-server-1", "kind": "pause-name-server"}


@pytest.mark.parametrize(
    ("queues", "faults", "expected"),
    [
        (QUEUES, [], "no other list"),
        (QUEUES, [{"inject_ns": 13 * S + 1}], "no other list"),
        (QUEUES, [{"inject_ns": 13 * S}], ""),
        (QUEUES[:2], [{}], ""),
        (QUEUES[:2], [], "broker-b in the list, to which nothing had happened"),
        (QUEUES[:2], [OF_A], "broker-b in the list, to which nothing had happened"),
        (QUEUES[:2], [OF_NAMES], ""),
        (QUEUES[:3], [{}], "all queues of each broker, in turn, of broker-a 0 1, broker-b 0 1"),
        (QUEUES[::-1], [{}], "all queues of each broker, in turn, of broker-a 0 1, broker-b 0 1"),
        ([], [{}, OF_A], ""),
    ],
)
def test_something_explains_a_later_list(
    queues: list[dict[str, Any]], faults: list[dict[str, Any]], expected: str
) -> None:
    """A fault of the brokers that it leaves out; nothing if it has not whole brokers; or the route, if both arms have it."""
    first: list[dict[str, Any]] = [{"route": 1}]
    later = [*first, {"route": 2, "at_ns": 13 * S, "queues": queues}, {"route": 3, "at_ns": 13 * S, "queues": queues}]

    def found(baseline: list[dict[str, Any]], candidate: list[dict[str, Any]]) -> list[tuple[str, str]]:
        collector = SendFacts("run", 1, 77)
        case = trace(SMALL, sends=[], routes_baseline=baseline, routes_candidate=candidate, faults=faults)
        require_explained_lists(case, collector)
        noted = collector.differences()
        assert all((fact.at_ns, fact.phase) == (13 * S, "later") for fact in noted)
        assert all(fact.expected.startswith(expected) for fact in noted)
        return [(fact.arm, fact.signature) for fact in noted]

    assert found(first, later) == ([("candidate", OTHER)] if expected else [])
    assert found(later, first) == ([("baseline", RULES)] if expected else [])
    assert found(later, later) == []


def test_first_lists_and_lists_after_a_move_are_compared() -> None:
    """Both, in one case."""
    faults = [MOVED | {"inject_ns": 10 * S}]
    case = trace(POLLED, sends=[{"send": 0, "start_ns": 18 * S, "route": 2}], routes=ROUTES[1:], faults=faults)
    collector = SendFacts("run", 1, 77)
    PublishLists(CaseContext(case, rulebook_for(case), collector)).finish()
    at = [(fact.arm, fact.signature, fact.at_ns) for fact in collector.differences()]
    assert sorted(at) == sorted(
        (arm, name, ns) for arm, name in (("baseline", RULES), ("candidate", OTHER)) for ns in (77, 18 * S)
    )
