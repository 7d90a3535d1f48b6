"""
Did each client make of the route the publish list that the rules say: every queue once, by broker name and queue id?

Looked at: the first list each arm reported, before anything happened to the cluster. Turns are taken along this list, and
every choice is judged by the list its own client reported; so a list that lacks a broker, or has another order, would
explain itself. Where ``run.json`` names no brokers, the baseline's list is what the candidate's is held against. An arm
that reported no list is not asked. A difference belongs to the check ``queue-choice``; it is about no single send.
"""

from collections.abc import Iterable
from itertools import groupby

from rocketdiff.analysis.case_trace import CaseTrace
from rocketdiff.analysis.checks.sending.by_rules.queue_choice import NAME
from rocketdiff.analysis.fact_collector import FactCollector
from rocketdiff.analysis.facts import Difference
from rocketdiff.core.answers.verdict import NO_SEND
from rocketdiff.core.events import Arm

OTHER_LIST = "queue.other-publish-list"
PublishList = tuple[tuple[str, int], ...]


def compare_publish_lists(trace: CaseTrace, collector: FactCollector) -> None:
    """Note every arm whose first list is not the one it should be; of the baseline that is for the rules to explain."""
    firsts = {arm: first for arm in Arm if (first := _first_list(trace, arm)) is not None}
    expected = _full_list(trace) or firsts.get(Arm.BASELINE)
    for arm, first in firsts.items():
        if expected is not None and first != expected:
            collector.note(_difference(arm, expected, first, at_ns=collector.origin_ns))


def _first_list(trace: CaseTrace, arm: Arm) -> PublishList | None:
    routes = trace.routes(arm)
    return routes[min(routes)] if routes else None


def _full_list(trace: CaseTrace) -> PublishList:
    """All queues of the topic; empty when the brokers were not recorded."""
    entry = trace.entry
    return tuple((broker, queue) for broker in sorted(entry.brokers) for queue in range(entry.queues_per_broker))


def _difference(arm: Arm, expected: PublishList, observed: PublishList, *, at_ns: int) -> Difference:
    return Difference(
        check=NAME,
        signature=("rules/" if arm is Arm.BASELINE else "") + OTHER_LIST,
        arm=str(arm),
        thread=0,
        send=NO_SEND,
        attempt=None,
        phase="start",
        at_ns=at_ns,
        weight=0,
        expected=f"turns taken along the list {_in_words(expected)}",
        observed=f"the client's first list is {_in_words(observed)}",
    )


def _in_words(queues: Iterable[tuple[str, int]]) -> str:
    """Queues in their order, as in ``broker-a 0 1 2 3, broker-b 0 1 2 3``."""
    groups = ((broker, [queue for _, queue in group]) for broker, group in groupby(queues, key=lambda queue: queue[0]))
    return ", ".join(f"{broker} {' '.join(map(str, numbers))}" for broker, numbers in groups) or "empty"
