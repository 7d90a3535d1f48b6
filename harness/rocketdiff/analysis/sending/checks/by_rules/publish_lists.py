"""
Did each client build the publish list that the rules require: every queue once, by broker name and queue id?

Examines the first list each arm reported, before any fault, and the later ones. Every choice is judged by the list its own client reported,
so a list without a broker, or in another order, would explain itself. If ``run.json`` names no brokers, the candidate's
list is compared with the baseline's. An arm without a list is skipped. Differences belong to the check ``queue-choice``
and to no single send.

Later lists have all queues of each broker that they name, and leave none out to which nothing had happened. While nothing has
happened to any, there is no other list at all: whoever makes one anew begins at another queue. If both arms' lists change alike, the route has.

A broker that came back at another address is in every list again from the next poll of the route on, until another fault.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice, pairwise

from rocketdiff.analysis.case_trace import CaseTrace
from rocketdiff.analysis.fault_windows import FOREVER_NS, learnt_after_ns
from rocketdiff.analysis.sending.checks.context import CaseObserver
from rocketdiff.analysis.sending.send_facts import SendFacts
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.core.tables.signatures import OTHER_PUBLISH_LIST
from rocketdiff.core.tables.topology import master_of
from rocketdiff.traces.schema import TableName

PublishList = tuple[tuple[str, int], ...]


class PublishLists(CaseObserver):
    """Compares the lists, which are in the trace beside the sends."""

    def observe(self, send: AlignedSend) -> None:
        """A send says nothing about the list."""

    def finish(self) -> None:
        compare_publish_lists(self._context.trace, self._collector)
        require_moved_brokers(self._context.trace, self._collector)
        require_explained_lists(self._context.trace, self._collector)


def compare_publish_lists(trace: CaseTrace, collector: SendFacts) -> None:
    """Note every arm whose first list is wrong; the baseline's signature blames the rules."""
    firsts = {arm: first for arm in Arm if (first := _first_list(trace, arm)) is not None}
    expected = _full_list(trace) or firsts.get(Arm.BASELINE)
    for arm, first in firsts.items():
        if expected is not None and first != expected:
            collector.differ_at(
                OTHER_PUBLISH_LIST,
                arm,
                of_rules=arm is Arm.BASELINE,
                phase="start",
                at_ns=collector.origin_ns,
                expected=f"turns taken along the list {_in_words(expected)}",
                observed=f"the client's first list is {_in_words(first)}",
            )


def require_moved_brokers(trace: CaseTrace, collector: SendFacts) -> None:
    """Note every arm that publishes to a list without a moved broker's queues; the baseline's signature blames the rules."""
    for fault in trace.faults:
        if fault.kind is FaultKind.MOVE and fault.heal_proven_ns is not None:
            later = (other.inject_ns for other in trace.faults if other.inject_ns > fault.inject_ns)
            from_ns = fault.heal_proven_ns + learnt_after_ns(trace.entry.settings)
            until_ns = min(later, default=FOREVER_NS)
            for arm in Arm:
                _require_listed(trace, collector, arm, fault.node, from_ns, until_ns)


def _require_listed(trace: CaseTrace, collector: SendFacts, arm: Arm, broker: str, from_ns: int, until_ns: int) -> None:
    """Note the first list in use in [from_ns, until_ns) that has no queue of a broker."""
    for at_ns, queues in _lists_in_use(trace, arm):
        if from_ns <= at_ns < until_ns and broker not in {name for name, _ in queues}:
            collector.differ_at(
                OTHER_PUBLISH_LIST,
                arm,
                of_rules=arm is Arm.BASELINE,
                phase="after",
                at_ns=at_ns,
                expected=f"{broker} in the list again: it came back at another address a polling interval ago",
                observed=f"the client's list is {_in_words(queues)}",
            )
            return


def require_explained_lists(trace: CaseTrace, collector: SendFacts) -> None:
    """Note the first later list of every arm that nothing explains, not even the other arm's; the baseline's signature blames the rules."""
    full = _full_list(trace)
    found = {arm: list(_unexplained_lists(trace, arm, full)) if full else [] for arm in Arm}
    for arm, other in zip(Arm, reversed(Arm), strict=True):
        of_route = {(queues, expected) for _, queues, expected in found[other]}
        own = (each for each in found[arm] if each[1:] not in of_route)
        for at_ns, queues, expected in islice(own, 1):
            collector.differ_at(
                OTHER_PUBLISH_LIST,
                arm,
                of_rules=arm is Arm.BASELINE,
                phase="later",
                at_ns=at_ns,
                expected=expected,
                observed=f"the client's list is {_in_words(queues)}",
            )


def _unexplained_lists(trace: CaseTrace, arm: Arm, full: PublishList) -> Iterator[tuple[int, PublishList, str]]:
    """Yield when a later list was made, the list, and what it should have been."""
    table, lists = trace.table(TableName.ROUTES, arm), sorted(trace.routes(arm).items())
    made_ns = dict(zip(*(table.column(name).to_pylist() for name in ("route", "at_ns")), strict=True))
    for (_, before), (number, queues) in pairwise(lists):
        begun = [fault for fault in trace.faults if fault.inject_ns <= made_ns[number]]
        if expected := _unexplained(full, before, queues, begun):
            yield made_ns[number], queues, expected


def _unexplained(full: PublishList, before: PublishList, queues: PublishList, begun: Sequence[FaultRecord]) -> str:
    """Return what a list should have been instead; empty if it may be so after these faults."""
    named = {broker for broker, _ in queues}
    if queues != tuple(place for place in full if place[0] in named):
        return f"all queues of each broker, in turn, of {_in_words(full)}"
    hit = {master_of(fault.node) for fault in begun}
    absent = sorted({broker for broker, _ in full} - named - hit)
    if absent and not any(fault.kind is FaultKind.PAUSE_NAME_SERVER for fault in begun):
        return f"{', '.join(absent)} in the list, to which nothing had happened"
    return "" if begun or queues != before else "no other list, because the route had not changed"


def _lists_in_use(trace: CaseTrace, arm: Arm) -> Iterator[tuple[int, PublishList]]:
    """Start of each send with a known list, and the list; in order of their start."""
    routes, sends = trace.routes(arm), trace.table(TableName.SENDS, arm).sort_by("start_ns")
    for at_ns, route in zip(*(sends.column(name).to_pylist() for name in ("start_ns", "route")), strict=True):
        if route in routes:
            yield at_ns, routes[route]


def _first_list(trace: CaseTrace, arm: Arm) -> PublishList | None:
    routes = trace.routes(arm)
    return routes[min(routes)] if routes else None


def _full_list(trace: CaseTrace) -> PublishList:
    """All queues of the topic; empty if the brokers were not recorded."""
    entry = trace.entry
    return tuple((broker, queue) for broker in sorted(entry.brokers) for queue in range(entry.queues_per_broker))


def _in_words(queues: Iterable[tuple[str, int]]) -> str:
    """Queues in order, as in ``broker-a 0 1 2 3, broker-b 0 1 2 3``."""
    groups = ((broker, [queue for _, queue in group]) for broker, group in groupby(queues, key=lambda queue: queue[0]))
    return ", ".join(f"{broker} {' '.join(map(str, numbers))}" for broker, numbers in groups) or "empty"
